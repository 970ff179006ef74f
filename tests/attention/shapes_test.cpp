/// gyre_attention() against the oracle over extents, head counts, layouts and strides.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/exact_workspace.h"

using namespace gyre::test;

TEST_CASE("every kind of head_dim, with causal and without") {
    for (const int64_t head_dim : {1, 2, 8, 10, 16, 32, 33, 64, 72, 80, 96, 127, 128, 200, 256, 511, 512})
        for (const int causal : {0, 1}) {
            AttentionCase c(AttentionShape().lengths(33, 70).head_counts(2, 1).dims(head_dim));
            c.args.causal = causal;
            c.check();
        }
}

TEST_CASE("v_head_dim differs from head_dim") {
    const int64_t pairs[][2] = {{1, 512},  {512, 1},  {8, 10},    {10, 8},   {64, 32},       {32, 64}, {64, 80},
                                {64, 128}, {128, 64}, {192, 128}, {72, 200}, {576 - 64, 96}, {96, 256}};
    for (const auto &dims : pairs) {
        AttentionCase c(AttentionShape().lengths(17, 65).dims(dims[0], dims[1]));
        c.check();
    }
}

TEST_CASE("every pair of lengths, with causal and without") {
    const std::vector<int64_t> lengths = {0, 1, 2, 7, 63, 64, 65, 130, 257};
    for (const int64_t head_dim : {16, 64})
        for (const int64_t seqlen_q : lengths)
            for (const int64_t seqlen_kv : lengths)
                for (const int causal : {0, 1}) {
                    AttentionCase c(AttentionShape().lengths(seqlen_q, seqlen_kv).dims(head_dim));
                    c.args.causal = causal;
                    c.check();
                }
}

TEST_CASE("the promised error at 1024 tokens and unit variance") {
    for (const int64_t head_dim : {64, 80, 128})
        for (const int causal : {0, 1}) {
            AttentionCase c(AttentionShape().lengths(1024, 1024).dims(head_dim));
            c.args.causal = causal;
            c.check(2e-6);
        }
}

TEST_CASE("one or few queries against many keys, as in decoding") {
    for (const int64_t head_dim : {64, 72, 128})
        for (const int64_t seqlen_q : {1, 2, 5})
            for (const int64_t seqlen_kv : {1, 100, 1024}) {
                if (seqlen_q > seqlen_kv) continue;
                AttentionCase c(
                    AttentionShape().batches(2).lengths(seqlen_q, seqlen_kv).head_counts(8, 2).dims(head_dim));
                c.args.causal = 1;
                c.check();
            }
}

TEST_CASE("grouped and multi-query heads") {
    const int64_t counts[][2] = {{1, 1}, {3, 3}, {4, 2}, {6, 2}, {5, 1}, {8, 8}, {9, 3}, {142, 2}};
    for (const auto &heads : counts)
        for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD}) {
            AttentionCase c(
                AttentionShape().batches(2).lengths(9, 20).head_counts(heads[0], heads[1]).dims(32).in(layout));
            c.check();
        }
}

TEST_CASE("an empty extent of any dimension is fine, and no key gives 0 and -inf") {
    for (int empty = 0; empty < 4; empty++)
        for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD}) {
            const int64_t heads = empty == 3 ? 0 : 4;
            AttentionCase c(AttentionShape()
                                .batches(empty == 0 ? 0 : 2)
                                .lengths(empty == 1 ? 0 : 3, empty == 2 ? 0 : 5)
                                .head_counts(heads, empty == 3 ? 2 : 2)
                                .dims(16)
                                .in(layout));
            c.check();
        }
}

TEST_CASE("layouts and strides give the same bits") {
    const AttentionShape packed = AttentionShape().batches(2).lengths(35, 70).head_counts(4, 2).dims(40, 24);
    std::vector<AttentionShape> placed;
    for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD})
        for (const Placement &placement :
             {Placement(), Placement::with_gaps(1), Placement::with_gaps(11), Placement::ordered({0, 2, 1, 3}),
              Placement::ordered({2, 1, 0, 3}, 3), Placement::ordered({1, 2, 0, 3}, 8)})
            placed.push_back(AttentionShape(packed).in(layout, placement));

    AttentionCase reference(packed);
    reference.args.causal = 1;
    reference.check();
    for (const std::string &target : runnable_targets()) {
        const Context context(target.c_str());
        REQUIRE(reference.run(context) == GYRE_OK);
        for (const AttentionShape &shape : placed) {
            AttentionCase c(shape);
            const auto copy = [&](const Tensor &from, Tensor &to) {
                const Dense dense(from.view(), GYRE_BSHD);
                for (int64_t b = 0; b < dense.batch; b++)
                    for (int64_t t = 0; t < dense.seqlen; t++)
                        for (int64_t h = 0; h < dense.heads; h++)
                            for (int64_t d = 0; d < dense.dim; d++)
                                to.set(shape.layout == GYRE_BSHD ? std::vector<int64_t>{b, t, h, d}
                                                                 : std::vector<int64_t>{b, h, t, d},
                                       dense.head(b, t, h)[d]);
            };
            copy(reference.q, c.q);
            copy(reference.k, c.k);
            copy(reference.v, c.v);
            c.args.causal = 1;
            CAPTURE(c.describe());
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            CHECK(c.output().data == reference.output().data);
            CHECK(c.lse.bits() == reference.lse.bits());
        }
    }
}

TEST_CASE("keys and values that repeat by a stride of 0, and tokens stored backwards") {
    AttentionCase c(AttentionShape().batches(2).lengths(9, 20).head_counts(4, 4).dims(32));
    c.args.k.strides[2] = c.args.v.strides[2] = 0; // all heads read the first one
    c.args.k.strides[0] = 0;                       // both batch entries read the first one
    c.check();
    AttentionCase backwards(
        AttentionShape().lengths(9, 20).dims(32).in(GYRE_BSHD, Placement::with_strides({0, -40, 32, 1})));
    backwards.check();
}

TEST_CASE("more heads share a key than a task has rows for") {
    for (const int64_t heads : {65, 129, 257, 513}) {
        AttentionCase c(AttentionShape().lengths(17, 20).head_counts(heads, 1).dims(64));
        c.check();
    }
}

TEST_CASE("the output may be the queries themselves") {
    for (const int64_t head_dim : {64, 72})
        for (const int rotated : {0, 1}) {
            AttentionCase c(AttentionShape().batches(2).lengths(70, 70).head_counts(4, 2).dims(head_dim));
            const gyre_rope rope = gyre_rope_defaults();
            c.args.causal = 1;
            if (rotated) c.args.rope = c.args.value_rope = &rope;
            c.check_in_place();
        }
}

TEST_CASE("lse is optional and changes nothing else") {
    AttentionCase c(AttentionShape().lengths(33, 40).dims(64));
    each_target([&](gyre_context *context) {
        REQUIRE(c.run(context) == GYRE_OK);
        const std::vector<uint64_t> with_lse = c.out.bits();
        const gyre_tensor *lse = c.args.lse;
        c.args.lse = nullptr;
        REQUIRE(c.run(context) == GYRE_OK);
        c.args.lse = lse;
        CHECK(c.out.bits() == with_lse);
    });
}

TEST_CASE("scale: given, tiny, negative") {
    for (const float scale : {0.01f, 1.0f, -0.3f}) {
        AttentionCase c(AttentionShape().lengths(20, 40).dims(64));
        c.args.scale = scale;
        c.check();
    }
}

TEST_CASE("a workspace of exactly the size that was asked for is enough, and nothing beyond it is written") {
    for (const int64_t head_dim : {64, 72}) {
        AttentionCase c(AttentionShape().batches(2).lengths(65, 130).head_counts(2, 1).dims(head_dim));
        const gyre_rope rope = gyre_rope_defaults();
        c.args.rope = c.args.value_rope = &rope;
        each_target(
            [&](gyre_context *context) {
                gyre_attention_args without_data = c.args;
                without_data.q.data = without_data.k.data = without_data.v.data = without_data.out.data = nullptr;
                size_t bytes = 0;
                REQUIRE_MESSAGE(gyre_attention_workspace_size(context, &without_data, &bytes) == GYRE_OK,
                                text(gyre_last_error()));
                check_exact_workspace(c, context, bytes);
            },
            2);
    }
}
