/// Query heads that share keys are rows of one task, in calls with a mask, bias, cap, ALiBi or sinks as in those without.
#include "support/attention_case.h"
#include "support/compare.h"

#include <algorithm>

using namespace gyre::test;

TEST_CASE("heads that share keys, with a mask, a bias, ALiBi and sinks of each head or of all") {
    const int64_t counts[][2] = {{4, 1}, {5, 1}, {6, 2}, {50, 1}};
    for (const auto &heads : counts)
        for (const gyre_dtype type : {GYRE_F32, GYRE_BF16})
            for (const bool each_head : {false, true}) {
                AttentionCase c(
                    AttentionShape().lengths(26, 150).head_counts(heads[0], heads[1]).dims(72, 40).of(type));
                const int64_t of_mask = each_head ? heads[0] : 1, of_bias = each_head ? 1 : heads[0];
                Tensor mask(GYRE_BOOL, {of_mask, 26, 150}), bias(type, {of_bias, 26, 150});
                mask.fill_uniform_integers(11, 0, 1);
                bias.fill_normal(12);
                c.args.mask = c.hold(std::move(mask));
                c.check();
                c.args.bias = c.hold(std::move(bias));
                std::vector<double> terms;
                for (int64_t h = 0; h < heads[0]; h++) terms.push_back(0.5 / (double)(h + 1));
                c.args.alibi = c.hold(GYRE_F32, terms);
                c.args.sinks = c.hold(GYRE_F32, terms);
                c.args.causal = 1;
                c.check();
            }
}

TEST_CASE("heads that share keys are one task, with a cap or a mask of all heads as without") {
    gyre_context_options options = gyre_context_defaults();
    options.threads = 64;
    int32_t most = 0; // tasks at once
    options.pool = &most;
    options.parallel_for = [](void *pool, int32_t count, void (*task)(void *, int32_t), void *state) {
        auto *const most_tasks = static_cast<int32_t *>(pool);
        *most_tasks = std::max(*most_tasks, count);
        for (int32_t i = 0; i < count; i++) task(state, i);
    };
    gyre_context *context = nullptr;
    REQUIRE(gyre_context_create(&options, &context) == GYRE_OK);
    gyre_rope rope = gyre_rope_defaults(); // in the call: no kernel for decoding takes it
    for (const bool masked : {false, true}) {
        AttentionCase c(AttentionShape().lengths(1, 200).head_counts(32, 8).dims(64));
        c.args.rope = &rope;
        Tensor mask(GYRE_BOOL, {1, 200});
        mask.fill_uniform_integers(13, 0, 1);
        if (masked)
            c.args.mask = c.hold(std::move(mask));
        else
            c.args.softcap = 5;
        most = 0;
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK(most == 8);
    }
    gyre_context_destroy(context);
}
