#include "core/targets.h"

#include "core/features.h"
#include "cpu/cpu_features.h"

namespace gyre {
namespace {

constexpr Target targets[] = {
#include "gyre_targets.inc"
};

} // namespace

static_assert(sizeof targets / sizeof targets[0] <= 64, "contexts keep a bit for each");

size_t index_of(const Target &target) { return static_cast<size_t>(&target - targets); }

TargetList known_targets() { return {targets, sizeof targets / sizeof targets[0]}; }

const Target *find_target(std::string_view name) {
    for (const Target &t : targets)
        if (name == t.name) return &t;
    return nullptr;
}

bool can_run(const Target &target) { return first_missing_feature(target.features).empty(); }

bool obtain(const Target &target) { return can_run(target) && obtain_features(target.features); }

bool serves(const Target *serving, const Target &target) {
    for (const Target *t = &target; t; t = find_target(t->rest))
        if (serving == t) return true;
    return false;
}

} // namespace gyre
