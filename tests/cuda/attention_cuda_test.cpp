/// gyre_attention() on CUDA devices: what their kernels take, against the oracle.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/tensor.h"

#include <cmath>

using namespace gyre::test;

namespace {

const gyre_dtype types[] = {GYRE_BF16, GYRE_F16};

gyre_rope make_rope(gyre_pairing pairing, int32_t rotary_dim = 0) {
    gyre_rope rope = gyre_rope_defaults();
    rope.pairing = pairing;
    rope.rotary_dim = rotary_dim;
    return rope;
}

/// Fills the keys and values that must not be read with NaN.
void poison_keys_from(AttentionCase &c, int64_t batch, int64_t first) {
    for (Tensor *tensor : {&c.k, &c.v})
        for (int64_t token = first; token < c.shape.seqlen_kv; token++)
            for (int64_t h = 0; h < c.shape.kv_heads; h++)
                for (int64_t d = 0; d < tensor->shape()[3]; d++) tensor->set({batch, token, h, d}, std::nan(""));
}

} // namespace

TEST_CASE("attention on devices: every type and head size, fewer and more rows and keys than tiles have") {
    for (const gyre_dtype type : types)
        for (const int64_t dim : {64, 96, 128, 256}) {
            AttentionCase(AttentionShape().lengths(1, 1).dims(dim).of(type)).check_on_devices();
            AttentionCase(AttentionShape().lengths(129, 70).dims(dim).of(type)).check_on_devices();
        }
    AttentionCase(AttentionShape().batches(2).lengths(17, 200).head_counts(2, 2).dims(64).of(GYRE_BF16))
        .check_on_devices();
}

TEST_CASE("attention on devices: causal and windows, in both alignments, with rows that see nothing") {
    for (const gyre_alignment alignment : {GYRE_BOTTOM_RIGHT, GYRE_TOP_LEFT})
        for (const auto &[queries, keys] : {std::pair<int64_t, int64_t>{150, 150}, {40, 200}, {200, 65}}) {
            AttentionCase c(AttentionShape().lengths(queries, keys).dims(64).of(GYRE_BF16));
            c.args.alignment = alignment;
            c.args.causal = 1;
            c.check_on_devices();
            c.args.window_left = 20;
            c.check_on_devices();
            c.args.causal = 0;
            c.args.window_right = 3;
            c.check_on_devices();
            c.args.window_left = 0;
            c.args.window_right = 0;
            c.check_on_devices();
        }
}

TEST_CASE("attention on devices: keys that are not used are not read, and none at all give 0 and -inf") {
    AttentionCase c(AttentionShape().batches(4).lengths(20, 130).head_counts(2, 1).dims(64).of(GYRE_BF16));
    const std::vector<double> used = {130, 0, 64, 1};
    c.args.seqused_k = c.hold(GYRE_I32, used);
    for (int64_t b = 0; b < 4; b++) poison_keys_from(c, b, (int64_t)used[(size_t)b]);
    c.check_on_devices();
    c.args.causal = 1;
    c.check_on_devices();
    AttentionCase none(AttentionShape().lengths(5, 0).dims(128).of(GYRE_F16));
    none.check_on_devices();
}

TEST_CASE("attention on devices: heads that share keys, every layout, strides apart, no lse, scales") {
    AttentionCase shared(AttentionShape().lengths(20, 66).head_counts(6, 2).dims(64).of(GYRE_F16).in(GYRE_BHSD));
    shared.check_on_devices();
    shared.args.lse = nullptr;
    shared.args.scale = -0.7f;
    shared.check_on_devices();
    shared.args.scale = 12;
    shared.check_on_devices();         // weights are close to one another or 0
    for (const int64_t gap : {8, 3}) { // rows that asynchronous copies take, and rows that they do not
        AttentionCase strided(AttentionShape().batches(2).lengths(18, 70).head_counts(2, 2).dims(64).of(GYRE_BF16).in(
            GYRE_BSHD, Placement::with_gaps(gap)));
        strided.check_on_devices();
    }
}

// Their rounding is far above 1, so that a weight formed of scores which were rounded differently would be 0 or infinite.
TEST_CASE("attention on devices: of scores that are huge the largest takes all, and its value is the result") {
    for (const gyre_dtype type : types)
        for (const int64_t dim : {64, 96, 128, 256})
            for (const int64_t rows : {1, 40}) {
                AttentionCase c(AttentionShape().lengths(rows, 90).head_counts(2, 1).dims(dim).of(type));
                std::vector<double> large = c.k.values();
                for (double &value : large) value *= 1024;
                c.k.set_values(large);
                c.args.scale = 1e8f;
                const Dense q(c.args.q, c.args.layout), k(c.args.k, c.args.layout), v(c.args.v, c.args.layout);
                each_device([&](gyre_context *context) {
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    CAPTURE(text(gyre_selected_kernel(context)));
                    const Dense out = c.output();
                    int64_t wrong = 0;
                    for (int64_t i = 0; i < rows; i++)
                        for (int64_t h = 0; h < 2; h++) {
                            int64_t best = 0;
                            double largest = -INFINITY;
                            for (int64_t j = 0; j < 90; j++) {
                                double score = 0;
                                for (int64_t d = 0; d < dim; d++) score += q.head(0, i, h)[d] * k.head(0, j, 0)[d];
                                if (score > largest) largest = score, best = j;
                            }
                            for (int64_t d = 0; d < dim; d++) wrong += out.head(0, i, h)[d] != v.head(0, best, 0)[d];
                        }
                    CHECK(wrong == 0);
                });
            }
}

TEST_CASE("attention on devices: RoPE and RoPER, in both pairings, on heads and on a part of them") {
    for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED})
        for (const int rotated : {1, 2, 3}) {
            const gyre_rope rope = make_rope(pairing), part = make_rope(pairing, 18);
            AttentionCase c(AttentionShape().lengths(40, 70).head_counts(2, 1).dims(64).of(GYRE_BF16));
            c.args.causal = 1;
            if (rotated & 1) c.args.rope = &rope;
            if (rotated & 2) c.args.value_rope = rotated == 3 ? &part : &rope;
            // Rotated keys and values are rounded to the type once more, which scores and sums then carry.
            c.check_on_devices();
        }
    const gyre_rope rope = make_rope(GYRE_HALF);
    for (const int64_t dim : {96, 128, 256}) {
        AttentionCase large(AttentionShape().lengths(70, 90).head_counts(2, 1).dims(dim).of(GYRE_F16));
        large.args.causal = 1;
        large.args.rope = large.args.value_rope = &rope;
        large.check_on_devices();
    }
    AttentionCase cached(AttentionShape().lengths(19, 70).dims(128).of(GYRE_BF16));
    cached.args.rope = cached.args.value_rope = &rope;
    cached.args.keys_rotated = cached.args.values_rotated = 1;
    cached.check_on_devices();
}

TEST_CASE("attention on devices: positions that are given, 64 bits wide, and tables of angles") {
    const gyre_rope rope = make_rope(GYRE_HALF);
    AttentionCase c(AttentionShape().batches(2).lengths(3, 5).dims(64).of(GYRE_F16));
    c.args.rope = c.args.value_rope = &rope;
    c.args.q_positions = c.hold(GYRE_I64, {7, 100000, 12, 3, 4, 1048575}, {2, 3});
    c.args.k_positions = c.hold(GYRE_I32, {5, 6, 99999, 8, 0}, {5});
    c.check_on_devices();

    std::vector<double> cos, sin;
    for (int row = 0; row < 40; row++)
        for (int pair = 0; pair < 8; pair++) {
            cos.push_back(std::cos(row * 0.1 * (pair + 1)));
            sin.push_back(std::sin(row * 0.1 * (pair + 1)));
        }
    gyre_rope tables = make_rope(GYRE_INTERLEAVED, 16);
    AttentionCase t(AttentionShape().lengths(20, 40).dims(64).of(GYRE_F16));
    tables.cos = t.hold(GYRE_F32, cos, {40, 8});
    tables.sin = t.hold(GYRE_F32, sin, {40, 8});
    t.args.rope = t.args.value_rope = &tables;
    t.check_on_devices();
}

TEST_CASE("attention on devices: one key of a block is hidden from one row alone") {
    for (const int64_t shift : {14, 30, 62, 126}) { // where the first row's last key is the last but one of a block
        AttentionCase c(AttentionShape().lengths(20, 20 + shift).dims(64).of(GYRE_BF16));
        c.args.causal = 1;
        c.check_on_devices();
    }
}

TEST_CASE("attention on devices: thousands of keys, all of them, causal and in parts") {
    for (const int causal : {0, 1}) {
        AttentionCase c(
            AttentionShape().lengths(40, 3001).head_counts(2, 1).dims(64).of(causal ? GYRE_F16 : GYRE_BF16));
        c.args.causal = causal;
        c.check_on_devices();
        AttentionCase few(AttentionShape().lengths(2, 5003).head_counts(4, 1).dims(64).of(GYRE_BF16));
        few.args.causal = causal;
        few.args.softcap = causal ? 12.0f : 0;
        few.check_on_devices();
    }
}
