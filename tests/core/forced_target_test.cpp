/// Dispatch where a context's target is forced.
#include "support/all_kernels.h"
#include "support/attention_case.h"
#include "support/each_kernel.h"
#include "support/rotary_case.h"

#include <algorithm>
#include <set>

using namespace gyre::test;

namespace {

/// The kernel that a call takes of few queries, or of many, whose rows a key head are `heads`.
std::string kernel_of(gyre_context *context, int64_t queries, int64_t heads, int64_t keys, int64_t head_dim) {
    AttentionCase c(AttentionShape().lengths(queries, keys).head_counts(heads, 1).dims(head_dim).of(GYRE_BF16));
    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
    return gyre_selected_kernel(context);
}

} // namespace

TEST_CASE("in bf16 the best target, forced, serves calls as it does where none is forced") {
    const Context any;
    const std::string best = gyre_context_target(any);
    const std::vector<std::string> tested = runnable_targets();
    // Pairs of bf16 numbers are left out on some processors where their target is not forced.
    if (best != "x86_64_amx" || std::find(tested.begin(), tested.end(), best) == tested.end()) return;
    const Context forced(best.c_str());
    for (const int64_t head_dim : {32, 64, 72, 80, 96, 128, 200, 256})
        for (const int64_t queries : {1, 16, 17})
            for (const int64_t heads : {1, 3, 4, 8, 40})
                for (const int64_t keys : {20, 300}) {
                    INFO(queries, " queries, ", heads, " heads, ", keys, " keys of ", head_dim);
                    CHECK(kernel_of(forced, queries, heads, keys, head_dim) ==
                          kernel_of(any, queries, heads, keys, head_dim));
                }
}

TEST_CASE("a forced target really runs, for every operation, type and pairing") {
    for (const std::string &target : runnable_targets()) {
        const Context context(target.c_str());
        CHECK(text(gyre_context_target(context)) == target);
        CHECK(text(gyre_selected_kernel(context)) == "");
        std::set<std::string> own, rests;
        for (std::string serving = target; !serving.empty();) // each has the rest of the one before
            for (const gyre_target_info &info : all_targets())
                if (info.name == serving) {
                    rests.insert(serving = info.rest);
                    break;
                }
        for (const gyre_kernel_info &kernel : all_kernels())
            if (kernel.target == target) own.insert(text(kernel.operation) + "_" + kernel.variant);
        // A target may have kernels of its own for some calls only; another's may serve where it has none.
        const auto check_selected = [&](const std::string &operation) {
            const std::string selected = gyre_selected_kernel(context);
            CAPTURE(selected);
            CHECK(selected.rfind(operation + "_", 0) == 0);
            const size_t end = selected.rfind("__");
            REQUIRE(end != std::string::npos);
            if (selected.substr(end + 2) != target) {
                CHECK(own.count(selected.substr(0, end)) == 0);
                CHECK(rests.count(selected.substr(end + 2)) == 1);
            }
        };
        for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16})
            for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED}) {
                RotaryCase c(RotaryShape().of(type));
                c.args.rope.pairing = pairing;
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                check_selected("rotary");
            }
        for (const gyre_dtype type : {GYRE_F32, GYRE_BF16})
            for (const int64_t head_dim : {8, 64, 80, 128, 512})
                for (const float softcap : {0.0f, 3.0f}) {
                    AttentionCase c(AttentionShape().lengths(3, 5).dims(head_dim).of(type));
                    c.args.softcap = softcap;
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    check_selected("attention");
                }
    }
}
