/// Where queries and keys stand for the rotations inside gyre_attention(): given, by default, shifted, on several axes.
#include "support/attention_allowance.h"
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"

using namespace gyre::test;

namespace {

/// Explicit positions, `first` + 0, stride, 2 stride, …
const gyre_tensor *positions_from(AttentionCase &c, gyre_dtype type, int64_t tokens, int64_t first,
                                  int64_t stride = 1) {
    std::vector<double> values;
    for (int64_t i = 0; i < tokens; i++) values.push_back((double)(first + i * stride));
    return c.hold(type, values);
}

} // namespace

TEST_CASE("positions of queries and keys are given separately, in any order, int32 and int64, per batch entry or not") {
    for (const gyre_dtype type : {GYRE_I32, GYRE_I64})
        for (const bool per_batch : {false, true})
            for (const int64_t head_dim : {64, 72}) {
                const gyre_rope rope = gyre_rope_defaults();
                AttentionCase c(AttentionShape().batches(2).lengths(35, 70).head_counts(2, 2).dims(head_dim));
                c.args.rope = c.args.value_rope = &rope;
                const auto random_positions = [&](int64_t tokens, uint64_t seed) {
                    Tensor positions(type, per_batch ? std::vector<int64_t>{2, tokens} : std::vector<int64_t>{tokens});
                    positions.fill_uniform_integers(seed, 0, (1 << 20) - 1);
                    return c.hold(std::move(positions));
                };
                c.args.q_positions = random_positions(35, 1);
                c.check();
                c.args.k_positions = random_positions(70, 2);
                c.check();
                c.args.q_positions = nullptr;
                c.check();
            }
}

TEST_CASE("shifting all positions by a constant changes nothing") {
    for (const int64_t shift : {1, 1000, 131071, 1 << 19}) {
        const gyre_rope rope = gyre_rope_defaults();
        AttentionCase c(AttentionShape().lengths(65, 65).head_counts(2, 2).dims(64));
        c.args.causal = 1;
        c.args.rope = c.args.value_rope = &rope;
        each_target([&](gyre_context *context) {
            c.args.q_positions = c.args.k_positions = nullptr;
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const std::vector<double> unshifted = c.out.values(), lse = c.lse.values();
            c.args.q_positions = c.args.k_positions = positions_from(c, GYRE_I32, 65, shift);
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            check_close("out", c.out.values(), unshifted, 8e-6);
            check_close("lse", c.lse.values(), lse, 8e-6);
        });
    }
}

TEST_CASE("default positions are those of a cache: keys from 0, queries at its end") {
    gyre_rope rope = gyre_rope_defaults();
    rope.pairing = GYRE_INTERLEAVED;
    for (const int64_t head_dim : {64, 72}) {
        AttentionCase c(AttentionShape().lengths(5, 66).dims(head_dim));
        c.args.causal = 1;
        c.args.rope = c.args.value_rope = &rope;
        each_target([&](gyre_context *context) {
            c.args.q_positions = c.args.k_positions = nullptr;
            REQUIRE(c.run(context) == GYRE_OK);
            const std::vector<uint64_t> by_default = c.out.bits();
            c.args.q_positions = positions_from(c, GYRE_I64, 5, 61);
            c.args.k_positions = positions_from(c, GYRE_I64, 66, 0);
            REQUIRE(c.run(context) == GYRE_OK);
            CHECK(c.out.bits() == by_default);
        });
    }
}

TEST_CASE("default positions follow seqused_k and cu_seqlens") {
    const gyre_rope rope = gyre_rope_defaults();
    AttentionCase cached(AttentionShape().batches(3).lengths(4, 70).head_counts(2, 1).dims(64));
    cached.args.rope = cached.args.value_rope = &rope;
    cached.args.causal = 1;
    cached.args.seqused_k = cached.hold(GYRE_I32, {70, 4, 33});
    cached.check();
    AttentionCase packed(AttentionShape().lengths(60, 110).head_counts(2, 1).dims(72).in(GYRE_THD));
    packed.args.rope = packed.args.value_rope = &rope;
    packed.args.causal = 1;
    packed.args.cu_seqlens_q = packed.hold(GYRE_I32, {0, 5, 5, 60});
    packed.args.cu_seqlens_k = packed.hold(GYRE_I32, {0, 40, 41, 110});
    packed.check();
    packed.args.q_positions = positions_from(packed, GYRE_I32, 60, 3, 2);
    packed.args.k_positions = positions_from(packed, GYRE_I64, 110, 7);
    packed.check();
}

TEST_CASE("several position axes (M-RoPE) inside attention") {
    gyre_rope rope = gyre_rope_defaults();
    rope.axes = 3;
    rope.sections[0] = 16;
    rope.sections[1] = rope.sections[2] = 8;
    for (const gyre_section_order order : {GYRE_SECTIONS_CONTIGUOUS, GYRE_SECTIONS_INTERLEAVED}) {
        rope.section_order = order;
        AttentionCase c(AttentionShape().batches(2).lengths(20, 30).dims(64));
        c.args.rope = c.args.value_rope = &rope;
        Tensor q_positions(GYRE_I64, {3, 2, 20}), k_positions(GYRE_I32, {3, 30});
        q_positions.fill_uniform_integers(1, 0, 5000);
        k_positions.fill_uniform_integers(2, 0, 5000);
        c.args.q_positions = c.hold(std::move(q_positions));
        c.args.k_positions = c.hold(std::move(k_positions));
        c.check();
    }
}

TEST_CASE("positions in any strides") {
    const gyre_rope rope = gyre_rope_defaults();
    AttentionCase c(AttentionShape().batches(2).lengths(20, 30).dims(64));
    c.args.rope = c.args.value_rope = &rope;
    Tensor q_positions(GYRE_I64, {2, 20}, Placement::with_strides({1, 2}));
    Tensor k_positions(GYRE_I32, {2, 30}, Placement::with_strides({0, -3}));
    q_positions.fill_uniform_integers(1, 0, 5000);
    k_positions.fill_uniform_integers(2, 0, 5000);
    c.args.q_positions = c.hold(std::move(q_positions));
    c.args.k_positions = c.hold(std::move(k_positions));
    c.check();
}

TEST_CASE("positions of keys that do not exist may be anything, with and without tables") {
    Tensor table(GYRE_F32, {90, 32});
    table.fill_normal(3);
    const gyre_tensor view = table.view();
    gyre_rope plain = gyre_rope_defaults(), with_tables = gyre_rope_defaults();
    with_tables.cos = with_tables.sin = &view;
    for (const gyre_rope *rope : {&plain, &with_tables})
        for (const bool per_batch : {false, true}) {
            AttentionCase c(AttentionShape().batches(2).lengths(5, 70).dims(64));
            c.args.rope = c.args.value_rope = rope;
            c.args.seqused_k = c.hold(GYRE_I32, {31, 40});
            c.args.q_positions = positions_from(c, GYRE_I32, 5, 80);
            Tensor clean(GYRE_I64, per_batch ? std::vector<int64_t>{2, 70} : std::vector<int64_t>{70});
            clean.fill_uniform_integers(5, 0, 89);
            Tensor given = clean;
            const int64_t lengths[] = {per_batch ? 31 : 40, 40};
            for (int64_t b = 0; b < (per_batch ? 2 : 1); b++)
                for (int64_t j = lengths[b]; j < 70; j++)
                    given.set(per_batch ? std::vector<int64_t>{b, j} : std::vector<int64_t>{j}, j % 2 ? -1 : 1e15);
            c.args.k_positions = c.hold(std::move(clean));
            const OracleAttention expected = oracle_attention(c.args);
            c.args.k_positions = c.hold(std::move(given));
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const KernelRounding rounding = rounding_of_kernel(gyre_selected_kernel(context));
                check_within("out", c.output().data, expected.out.data,
                             attention_allowance(expected, c.args, rounding).out);
            });
        }
}
