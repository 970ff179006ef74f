/// What may not change a bit of gyre_attention()'s result: the other batch entries and heads, former calls.
#include "support/attention_allowance.h"
#include "support/attention_case.h"
#include "support/batch_entry.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/everything_case.h"

using namespace gyre::test;

TEST_CASE("a batch entry alone gives the bits that it has in the batch") {
    for (const int64_t head_dim : {64, 72})
        for (const bool general : {false, true}) {
            Everything e(head_dim, general);
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(e.c.run(context) == GYRE_OK, text(gyre_last_error()));
                const std::vector<double> used = values_of(*e.c.args.seqused_k), all = e.c.out.values();
                for (int64_t b = 0; b < 3; b++) {
                    AttentionCase alone(AttentionShape(e.c.shape).batches(1));
                    const gyre_tensor out = alone.args.out;
                    const gyre_tensor *const lse = alone.args.lse;
                    alone.args = e.c.args;
                    alone.args.q = entry_of(e.c.args.q, b);
                    alone.args.k = entry_of(e.c.args.k, b);
                    alone.args.v = entry_of(e.c.args.v, b);
                    alone.args.out = out;
                    alone.args.lse = lse;
                    alone.args.seqused_k = alone.hold(GYRE_I32, {used[(size_t)b]});
                    REQUIRE_MESSAGE(alone.run(context) == GYRE_OK, text(gyre_last_error()));
                    const std::vector<double> got = alone.out.values();
                    const auto first = all.begin() + b * (int64_t)got.size();
                    CHECK(got == std::vector<double>(first, first + (int64_t)got.size()));
                }
            });
        }
}

TEST_CASE("a batch entry of a cache gives the bits of a call whose tensors end with its keys, few or many") {
    for (const int64_t heads : {1, 4, 8}) {
        const std::vector<double> used = {127, 300, 128};
        AttentionCase c(AttentionShape().batches(3).lengths(1, 400).head_counts(heads, 1).of(GYRE_BF16));
        c.args.seqused_k = c.hold(GYRE_I32, used);
        each_target([&](gyre_context *context) {
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const std::vector<double> all = c.out.values();
            for (int64_t b = 0; b < 3; b++) {
                AttentionCase alone(AttentionShape(c.shape).batches(1));
                alone.args.q = entry_of(c.args.q, b);
                alone.args.k = entry_of(c.args.k, b);
                alone.args.v = entry_of(c.args.v, b);
                alone.args.k.shape[1] = alone.args.v.shape[1] = (int64_t)used[(size_t)b];
                REQUIRE_MESSAGE(alone.run(context) == GYRE_OK, text(gyre_last_error()));
                const std::vector<double> got = alone.out.values();
                const auto first = all.begin() + b * (int64_t)got.size();
                CHECK(got == std::vector<double>(first, first + (int64_t)got.size()));
            }
        });
    }
}

TEST_CASE("a call does not depend on the calls before it") {
    Everything small(64, false), large(128, true);
    each_target(
        [&](gyre_context *context) {
            REQUIRE(small.c.run(context) == GYRE_OK);
            const std::vector<uint64_t> first = small.c.out.bits();
            REQUIRE(large.c.run(context) == GYRE_OK);
            REQUIRE(small.c.run(context) == GYRE_OK);
            CHECK(small.c.out.bits() == first);
        },
        2);
}

TEST_CASE("frequencies of a former call are not taken for this one's") {
    AttentionCase c(AttentionShape().lengths(20, 30).dims(64));
    gyre_rope rope = gyre_rope_defaults(), value_rope = gyre_rope_defaults();
    c.args.rope = &rope;
    c.args.value_rope = &value_rope;
    const auto outputs = [&](gyre_context *context, double theta, double value_theta, int32_t rotary_dim) {
        rope.theta = theta;
        value_rope.theta = value_theta;
        rope.rotary_dim = value_rope.rotary_dim = rotary_dim;
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        return c.output().data;
    };
    each_target([&](gyre_context *context) {
        for (const int32_t rotary_dim : {32, 64, 16})
            for (const double theta : {100.0, 5000.0})
                for (const double value_theta : {5000.0, 70.0}) {
                    const std::vector<double> got = outputs(context, theta, value_theta, rotary_dim);
                    const OracleAttention expected = oracle_attention(c.args);
                    check_within("out", got, expected.out.data, attention_allowance(expected, c.args, {}).out);
                }
    });
}

TEST_CASE("equal heads give equal bits") {
    AttentionCase c(AttentionShape().lengths(70, 130).head_counts(6, 2).dims(64));
    for (Tensor *tensor : {&c.q, &c.k, &c.v}) {
        const int64_t tokens = tensor->shape()[1], heads = tensor->shape()[2];
        for (int64_t t = 0; t < tokens; t++)
            for (int64_t h = 1; h < heads; h++)
                for (int64_t d = 0; d < 64; d++) tensor->set({0, t, h, d}, tensor->get({0, t, 0, d}));
    }
    each_target([&](gyre_context *context) {
        REQUIRE(c.run(context) == GYRE_OK);
        int64_t different = 0;
        for (int64_t t = 0; t < 70; t++)
            for (int64_t h = 1; h < 6; h++)
                for (int64_t d = 0; d < 64; d++) different += c.out.get({0, t, h, d}) != c.out.get({0, t, 0, d});
        CHECK(different == 0);
    });
}
