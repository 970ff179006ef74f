/// What gyre_*_workspace_size() says of a call whose data are not there yet is enough for the call.
#include "support/attention_case.h"
#include "support/backward_case.h"
#include "support/each_kernel.h"
#include "support/linear_case.h"

#include <deque>
#include <functional>

using namespace gyre::test;

namespace {

/// Copies of what arguments point to, without data.
struct WithoutData {
    std::deque<gyre_tensor> tensors;
    std::deque<gyre_rope> ropes;

    const gyre_tensor *of(const gyre_tensor *t) {
        if (!t) return nullptr;
        tensors.push_back(*t);
        tensors.back().data = nullptr;
        return &tensors.back();
    }
    const gyre_rope *of(const gyre_rope *r) {
        if (!r) return nullptr;
        ropes.push_back(*r);
        ropes.back().cos = of(r->cos);
        ropes.back().sin = of(r->sin);
        return &ropes.back();
    }
    gyre_attention_args of(gyre_attention_args a) {
        for (gyre_tensor *t : {&a.q, &a.k, &a.v, &a.out}) t->data = nullptr;
        for (const gyre_tensor **t : {&a.lse, &a.bias, &a.mask, &a.sinks, &a.alibi, &a.seqused_k, &a.cu_seqlens_q,
                                      &a.cu_seqlens_k, &a.page_table, &a.q_positions, &a.k_positions})
            *t = of(*t);
        a.rope = of(a.rope);
        a.value_rope = of(a.value_rope);
        return a;
    }
};

/// The call in a workspace of the size that was told without data.
void check_enough(const char *what, AttentionCase &c, int32_t threads) {
    CAPTURE(text(what));
    each_target(
        [&](gyre_context *context) {
            WithoutData none;
            const gyre_attention_args sizes = none.of(c.args);
            size_t bytes = 0;
            REQUIRE_MESSAGE(gyre_attention_workspace_size(context, &sizes, &bytes) == GYRE_OK, text(gyre_last_error()));
            std::vector<char> memory(bytes);
            c.args.workspace = memory.data();
            c.args.workspace_size = bytes;
            CHECK_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            c.args.workspace = nullptr;
            c.args.workspace_size = 0;
        },
        threads);
}

gyre_rope table_rope(Keeper *keeper, int64_t rows, uint64_t seed) {
    gyre_rope rope = gyre_rope_defaults();
    for (const gyre_tensor **table : {&rope.cos, &rope.sin}) {
        Tensor t(GYRE_F32, {rows, 32});
        t.fill_normal(seed++);
        *table = keeper->hold(std::move(t));
    }
    return rope;
}

} // namespace

TEST_CASE("workspace: sizes that are asked for without data are enough, with every list and rope") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const int32_t threads : {1, 3}) {
        AttentionCase lengths(AttentionShape().batches(5).lengths(40, 90).head_counts(4, 2).dims(64));
        lengths.args.rope = &rope;
        lengths.args.seqused_k = lengths.hold(GYRE_I32, {90, 1, 50, 7, 90});
        check_enough("seqused_k and a rope", lengths, threads);

        AttentionCase positions(AttentionShape().batches(5).lengths(40, 90).dims(64));
        Tensor of_q(GYRE_I32, {5, 40}), of_k(GYRE_I64, {5, 90});
        of_q.fill_uniform_integers(1, 0, 500);
        of_k.fill_uniform_integers(2, 0, 500);
        positions.args.rope = &rope;
        positions.args.q_positions = positions.hold(std::move(of_q));
        positions.args.k_positions = positions.hold(std::move(of_k));
        check_enough("both positions", positions, threads);

        AttentionCase tables(AttentionShape().batches(2).lengths(40, 90).dims(64));
        const gyre_rope one = table_rope(&tables, 90, 1), other = table_rope(&tables, 90, 7);
        tables.args.rope = &one;
        tables.args.value_rope = &other;
        check_enough("two ropes of two tables", tables, threads);

        AttentionCase packed(AttentionShape().lengths(40, 90).dims(64).in(GYRE_THD));
        packed.args.cu_seqlens_q = packed.hold(GYRE_I32, {0, 1, 40});
        packed.args.cu_seqlens_k = packed.hold(GYRE_I32, {0, 60, 90});
        packed.args.rope = &rope;
        check_enough("packed sequences", packed, threads);

        // Each has few queries, all of them have many: by the first their keys are cut into parts.
        AttentionCase few(AttentionShape().lengths(64, 5000).dims(64).in(GYRE_THD));
        few.args.cu_seqlens_q = few.hold(GYRE_I32, {0, 16, 32, 48, 64});
        few.args.cu_seqlens_k = few.hold(GYRE_I32, {0, 4000, 4500, 4900, 5000});
        check_enough("few queries each", few, threads);
    }
}

TEST_CASE("workspace: a byte less than was asked for is too little, since the address may be of no cache line") {
    AttentionCase c(AttentionShape().lengths(40, 90).dims(64));
    each_target([&](gyre_context *context) {
        size_t bytes = 0;
        REQUIRE(gyre_attention_workspace_size(context, &c.args, &bytes) == GYRE_OK);
        std::vector<char> memory(bytes);
        for (const size_t missing : {0, 1, 63}) {
            c.args.workspace = memory.data();
            c.args.workspace_size = bytes - missing;
            CHECK(c.run(context) == (missing ? GYRE_WORKSPACE_TOO_SMALL : GYRE_OK));
        }
        c.args.workspace = nullptr;
        c.args.workspace_size = 0;
    });
}

TEST_CASE("workspace: linear attention's size without data is enough where positions are several tables") {
    LinearCase c(AttentionShape().batches(3).lengths(70, 70).dims(64));
    const gyre_rope rope = gyre_rope_defaults();
    Tensor of_q(GYRE_I32, {3, 70}), of_k(GYRE_I32, {3, 70});
    of_q.fill_uniform_integers(1, 0, 500);
    of_k.fill_uniform_integers(2, 0, 500);
    Keeper keeper;
    c.args.causal = 1;
    c.args.rope = &rope;
    c.args.q_positions = keeper.hold(std::move(of_q));
    c.args.k_positions = keeper.hold(std::move(of_k));
    each_target([&](gyre_context *context) {
        WithoutData none;
        gyre_linear_attention_args sizes = c.args;
        for (gyre_tensor *t : {&sizes.q, &sizes.k, &sizes.v, &sizes.out}) t->data = nullptr;
        sizes.q_positions = none.of(sizes.q_positions);
        sizes.k_positions = none.of(sizes.k_positions);
        size_t bytes = 0;
        REQUIRE_MESSAGE(gyre_linear_attention_workspace_size(context, &sizes, &bytes) == GYRE_OK,
                        text(gyre_last_error()));
        std::vector<char> memory(bytes);
        c.args.workspace = memory.data();
        c.args.workspace_size = bytes;
        CHECK_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        c.args.workspace = nullptr;
        c.args.workspace_size = 0;
    });
}
