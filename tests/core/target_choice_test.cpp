/// Which target a context takes: the best that can run, or the one that is forced; and what is refused.
#include "support/each_kernel.h"
#include "support/refusal.h"

#include <cstdlib>

using namespace gyre::test;

namespace {

/// The environment variable GYRE_TARGET, for one scope.
class TargetVariable {
public:
    explicit TargetVariable(const char *value) {
        const char *const current = std::getenv("GYRE_TARGET");
        if (current) before_ = current;
        had_one_ = current != nullptr;
        setenv("GYRE_TARGET", value, 1);
    }
    ~TargetVariable() { had_one_ ? setenv("GYRE_TARGET", before_.c_str(), 1) : unsetenv("GYRE_TARGET"); }

private:
    std::string before_;
    bool had_one_ = false;
};

gyre_status create(const char *target, gyre_context **context) {
    gyre_context_options options = gyre_context_defaults();
    options.target = target;
    return gyre_context_create(&options, context);
}

} // namespace

TEST_CASE("without a wish the best runnable target is taken") {
    std::string best;
    for (const gyre_target_info &target : all_targets())
        if (best.empty() && target.linked && target.runnable) best = target.name;
    unsetenv("GYRE_TARGET");
    const Context context;
    CHECK(text(gyre_context_target(context)) == best);
}

TEST_CASE("GYRE_TARGET chooses, an explicit target beats it, and nonsense in it is refused") {
    const std::string worst = runnable_targets().back(), best = runnable_targets().front();
    {
        const TargetVariable variable(worst.c_str());
        const Context chosen, explicitly(best.c_str());
        CHECK(text(gyre_context_target(chosen)) == worst);
        CHECK(text(gyre_context_target(explicitly)) == best);
    }
    gyre_context *context = nullptr;
    const TargetVariable nonsense("x86_64_nonsense");
    check_refused("environment", create(nullptr, &context), GYRE_BAD_ARGUMENT, "GYRE_TARGET");
    CHECK(context == nullptr);
}

TEST_CASE("unknown and unrunnable targets are refused by name") {
    gyre_context *context = nullptr;
    for (const char *name : {"", "avx512", "x86_64_avx512 ", "X86_64_AVX512"}) {
        check_refused("unknown", create(name, &context), GYRE_BAD_ARGUMENT, "target");
        CHECK(context == nullptr);
    }
    int refused = 0;
    for (const gyre_target_info &target : all_targets()) {
        if (target.linked && target.runnable) continue;
        check_refused("unrunnable", create(target.name, &context), GYRE_UNSUPPORTED,
                      (std::string("target ") + target.name).c_str());
        CHECK(context == nullptr);
        refused++;
    }
    MESSAGE(refused, " of ", gyre_target_count(), " targets could be tried as unrunnable on this machine");
}

TEST_CASE("contexts refuse bad options") {
    gyre_context *context = nullptr;
    gyre_context_options options = gyre_context_defaults();
    check_refused("context NULL", gyre_context_create(&options, nullptr), GYRE_BAD_ARGUMENT, "context");
    options.threads = -1;
    check_refused("threads", gyre_context_create(&options, &context), GYRE_BAD_ARGUMENT, "threads");
    options = gyre_context_defaults();
    options.size = 2;
    check_refused("size", gyre_context_create(&options, &context), GYRE_BAD_ARGUMENT, "size");
    CHECK(context == nullptr);
    REQUIRE(gyre_context_create(nullptr, &context) == GYRE_OK);
    CHECK(gyre_context_threads(context) >= 1);
    gyre_context_destroy(context);
    gyre_context_destroy(nullptr);
}
