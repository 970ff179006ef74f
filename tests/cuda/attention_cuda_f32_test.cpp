/// gyre_attention() on CUDA devices in f32, which multiply-adds compute, against the oracle: with the tolerances of CPUs, since
/// no kernel rounds what it multiplies.
#include "support/attention_case.h"
#include "support/each_kernel.h"
#include "support/key_pages.h"
#include "support/masked_garbage.h"

using namespace gyre::test;

namespace {

AttentionShape f32_shape(int64_t queries, int64_t keys, int64_t dim) {
    return AttentionShape().lengths(queries, keys).head_counts(4, 2).dims(dim).of(GYRE_F32);
}

constexpr int64_t head_dims[] = {64, 96, 128};

} // namespace

TEST_CASE("attention on devices, f32: every head size, fewer and more rows and keys than tiles have, causal or not") {
    for (const int64_t dim : head_dims)
        for (const auto &[queries, keys] : {std::pair<int64_t, int64_t>{1, 1}, {20, 20}, {65, 33}, {70, 130}}) {
            AttentionCase c(f32_shape(queries, keys, dim));
            c.check_on_devices();
            c.args.causal = 1;
            c.check_on_devices();
        }
}

TEST_CASE("attention on devices, f32: windows, alignments, key lengths, scales of both signs, layouts and gaps") {
    for (const int64_t gap : {0, 4, 3}) { // rows that asynchronous copies take, and rows that they do not
        AttentionCase c(f32_shape(40, 90, 64).batches(2).in(GYRE_BHSD, Placement::with_gaps(gap)));
        c.args.window_left = 20;
        c.args.window_right = 3;
        c.check_on_devices();
        c.args.alignment = GYRE_TOP_LEFT;
        c.args.scale = -0.7f;
        c.args.seqused_k = c.hold(GYRE_I32, {90, 37});
        c.check_on_devices();
    }
}

TEST_CASE(
    "attention on devices, f32: RoPE and RoPER in both pairings, in the call and of a cache, tables of few rows") {
    for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED})
        for (const int64_t dim : head_dims) {
            gyre_rope rope = gyre_rope_defaults(), part = rope;
            rope.pairing = part.pairing = pairing;
            part.rotary_dim = 18;
            AttentionCase c(f32_shape(40, 70, dim));
            c.args.causal = 1;
            c.args.rope = &rope;
            c.args.value_rope = &part;
            c.check_on_devices();
            c.args.keys_rotated = c.args.values_rotated = 1;
            c.check_on_devices();
        }
}

TEST_CASE("attention on devices, f32: bias, mask, cap, ALiBi and sinks, each and together, and in pages") {
    for (const int64_t dim : head_dims) {
        AttentionCase c(f32_shape(70, 80, dim));
        c.args.causal = 1;
        c.args.sinks = c.hold(GYRE_F32, {0.5, 2, -1, 0});
        c.check_on_devices();
        Tensor bias(GYRE_F32, {4, 70, 80}), mask(GYRE_BOOL, {70, 80});
        bias.fill_normal(3);
        mask.fill(1);
        for (int64_t i = 0; i < 70; i++) mask.set({i, 7 * i % 80}, 0);
        c.args.bias = c.hold(std::move(bias));
        c.check_on_devices();
        c.args.mask = c.hold(std::move(mask));
        c.args.alibi = c.hold(GYRE_F32, {0.5, 0.25, 0.1, 0.02});
        c.args.softcap = 20;
        c.check_on_devices();
        const KeyPages pages(c, 16, {80});
        const gyre_attention_args in_pages = pages.args();
        c.check_on_devices(&in_pages);
    }
}

TEST_CASE("attention on devices, f32: keys in pages of plain calls, packed sequences, and few queries in parts") {
    for (const int64_t dim : head_dims)
        for (const int64_t queries : {2, 40}) {
            AttentionCase c(f32_shape(queries, 300, dim));
            c.args.causal = 1;
            c.check_on_devices();
            const KeyPages pages(c, 16, {300});
            const gyre_attention_args in_pages = pages.args();
            c.check_on_devices(&in_pages);
        }
    AttentionCase packed(f32_shape(90, 131, 64).in(GYRE_THD));
    packed.args.cu_seqlens_q = packed.hold(GYRE_I32, {0, 30, 31, 90});
    packed.args.cu_seqlens_k = packed.hold(GYRE_I32, {0, 50, 120, 131});
    packed.args.causal = 1;
    packed.check_on_devices();
}

TEST_CASE("attention on devices, f32: garbage of masked keys reaches no row, and what rows see is as it is") {
    for (const int64_t rows : {3, 20}) {
        const RowSees sees = [rows](int64_t i, int64_t j) { return j <= i + 40 - rows; };
        AttentionCase c(AttentionShape().lengths(rows, 40).head_counts(2, 1).dims(64).of(GYRE_F32));
        c.args.causal = 1;
        check_garbage(c, sees, {39, 40 - rows / 2}, true);
        c.args.softcap = 30;
        check_garbage(c, sees, {40 - rows / 2}, true);
    }
}

TEST_CASE("attention on devices, f32: head sizes over 128 are refused") {
    AttentionCase c(f32_shape(4, 4, 256));
    each_device([&](gyre_context *context) { CHECK(c.run(context) == GYRE_UNSUPPORTED); });
}
