// What gyre info tells of the rules of dispatch, apart from them: programs that do not ask have no room for the words.
#include "attention/dispatch/dispatch.h"

using namespace gyre;

namespace {

/// Which calls each rule takes.
constexpr const char *calls_of_rules[] = {
#define GYRE_FAMILY(begin, calls, traits) calls,
#define GYRE_TRAIT(name)
#include "gyre_families.inc"
#undef GYRE_TRAIT
#undef GYRE_FAMILY
};

} // namespace

extern "C" int32_t gyre_dispatch_rule_count(void) { return static_cast<int32_t>(dispatch_rules().count); }

extern "C" int32_t gyre_dispatch_rule_at(int32_t index, gyre_dispatch_rule *rule) {
    if (!rule || index < 0 || index >= gyre_dispatch_rule_count()) return 0;
    const DispatchRule &r = dispatch_rules().first[index];
    *rule = {"attention", r.family, calls_of_rules[index]};
    return 1;
}
