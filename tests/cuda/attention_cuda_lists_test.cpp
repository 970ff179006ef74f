/// gyre_attention() on CUDA devices: packed sequences and keys in pages, against the oracle.
#include "fake_driver.h"
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/key_pages.h"

#include <cmath>

using namespace gyre::test;

namespace {

/// Packed queries and keys whose sequences end where these say.
struct Packed {
    AttentionCase c;

    Packed(const AttentionShape &shape, const std::vector<double> &q_bounds, const std::vector<double> &k_bounds)
        : c(AttentionShape(shape)
                .lengths((int64_t)q_bounds.back(), (int64_t)k_bounds.back())
                .in(GYRE_THD, shape.placement)) {
        c.args.cu_seqlens_q = c.hold(GYRE_I32, q_bounds);
        c.args.cu_seqlens_k = c.hold(GYRE_I32, k_bounds);
    }
};

void poison_key(AttentionCase &c, const std::vector<int64_t> &entry_and_token) {
    for (Tensor *tensor : {&c.k, &c.v})
        for (int64_t h = 0; h < c.shape.kv_heads; h++)
            for (int64_t d = 0; d < tensor->shape().back(); d++) {
                std::vector<int64_t> at = entry_and_token;
                at.push_back(h);
                at.push_back(d);
                tensor->set(at, std::nan(""));
            }
}

/// [batch, count] of positions [batch, more].
Tensor first_keys(const gyre_tensor &positions, int64_t count) {
    Tensor first(GYRE_I32, {positions.shape[0], count});
    for (int64_t b = 0; b < positions.shape[0]; b++)
        for (int64_t j = 0; j < count; j++)
            first.set({b, j}, static_cast<const int32_t *>(positions.data)[b * positions.shape[1] + j]);
    return first;
}

} // namespace

TEST_CASE("packed attention on devices: sequences that begin and end within tiles and blocks, and empty ones") {
    const std::vector<double> bounds[][2] = {
        {{0, 5, 5, 60, 61}, {0, 40, 41, 110, 110}}, // no keys for the second and last
        {{0, 130, 258, 258, 300}, {0, 7, 80, 90, 220}},
        {{0, 128}, {0, 64}},
        {{0, 0, 0}, {0, 3, 9}},
    };
    for (const auto &[q_bounds, k_bounds] : bounds)
        for (const int64_t dim : {64, 128, 256}) {
            Packed packed(AttentionShape().head_counts(2, 1).dims(dim).of(GYRE_BF16), q_bounds, k_bounds);
            packed.c.check_on_devices();
            packed.c.args.causal = 1;
            packed.c.check_on_devices();
        }
}

TEST_CASE("packed attention on devices: windows, alignments, used keys, gaps between tokens, no lse") {
    for (const int64_t gap : {0, 3, 8}) {
        Packed packed(AttentionShape().head_counts(2, 2).dims(96).of(GYRE_F16).in(GYRE_THD, Placement::with_gaps(gap)),
                      {0, 30, 31, 90}, {0, 50, 120, 131});
        packed.c.args.window_left = 9;
        packed.c.args.window_right = 20;
        packed.c.check_on_devices();
        packed.c.args.alignment = GYRE_TOP_LEFT;
        packed.c.args.causal = 1;
        packed.c.args.lse = nullptr;
        packed.c.check_on_devices();
        const std::vector<double> used = {50, 3, 0};
        packed.c.args.seqused_k = packed.c.hold(GYRE_I32, used);
        packed.c.args.alignment = GYRE_BOTTOM_RIGHT;
        for (int64_t token = 53; token < 131; token++) poison_key(packed.c, {token});
        packed.c.check_on_devices();
    }
}

TEST_CASE("lists that are wrong lead no device out of the tensors") {
    const WrongLists lead_blocks_to_one_place;
    for (const std::vector<double> &wrong :
         {std::vector<double>{0, 250, 20, 300}, {-9, 40, 1e9, 300}, {300, 200, 100, 0}, {2e9, -2e9, 2e9, -2e9}})
        for (const bool of_queries : {false, true}) {
            Packed packed(AttentionShape().dims(64).of(GYRE_BF16), {0, 140, 280, 300}, {0, 140, 280, 300});
            (of_queries ? packed.c.args.cu_seqlens_q : packed.c.args.cu_seqlens_k) = packed.c.hold(GYRE_I32, wrong);
            packed.c.args.seqused_k = packed.c.hold(GYRE_I32, {1e9, -1e9, 7});
            each_device([&](gyre_context *context) { CHECK(packed.c.run(context) == GYRE_OK); });
        }
    AttentionCase c(AttentionShape().batches(2).lengths(18, 90).dims(64).of(GYRE_BF16));
    c.args.seqused_k = c.hold(GYRE_I32, {90, 77});
    const KeyPages pages(c, 32, {90, 77});
    c.args = pages.args();
    for (const double entry : {-5.0, 1e9}) {
        c.args.page_table = c.hold(GYRE_I32, std::vector<double>(6, entry), {2, 3});
        each_device([&](gyre_context *context) { CHECK(c.run(context) == GYRE_OK); });
    }
}

TEST_CASE("packed attention on devices: RoPE and RoPER at positions of each sequence, or given") {
    gyre_rope rope = gyre_rope_defaults(), part = rope;
    part.pairing = GYRE_INTERLEAVED;
    part.rotary_dim = 18;
    Packed packed(AttentionShape().head_counts(2, 1).dims(64).of(GYRE_BF16), {0, 5, 5, 60}, {0, 40, 41, 110});
    AttentionCase &c = packed.c;
    c.args.causal = 1;
    for (const gyre_rope *of_values : {static_cast<const gyre_rope *>(nullptr), static_cast<const gyre_rope *>(&rope),
                                       static_cast<const gyre_rope *>(&part)}) {
        c.args.rope = &rope;
        c.args.value_rope = of_values;
        c.args.q_positions = c.args.k_positions = nullptr;
        c.check_on_devices();
        Tensor of_q(GYRE_I64, {60}), of_k(GYRE_I32, {110});
        of_q.fill_uniform_integers(1, 0, 3000);
        of_k.fill_uniform_integers(2, 0, 3000);
        c.args.q_positions = c.hold(std::move(of_q));
        c.args.k_positions = c.hold(std::move(of_k));
        c.check_on_devices();
    }
}

TEST_CASE("attention on devices: tables of keys' angles, a section for all entries or one each") {
    gyre_rope rope = gyre_rope_defaults(), other = rope;
    other.theta = 500;
    for (const bool each : {false, true}) {
        AttentionCase c(AttentionShape().batches(3).lengths(4, 70).head_counts(2, 1).dims(64).of(GYRE_F16));
        c.args.rope = &rope;
        c.args.value_rope = &other;
        c.args.seqused_k = c.hold(GYRE_I32, {70, 4, 33});
        if (each) {
            Tensor positions(GYRE_I32, {3, 70});
            positions.fill_uniform_integers(3, 0, 1000);
            c.args.k_positions = c.hold(std::move(positions));
        }
        c.check_on_devices();
    }
    AttentionCase axes(AttentionShape().batches(2).lengths(20, 30).dims(64).of(GYRE_F16));
    rope.axes = 3;
    rope.sections[0] = 16;
    rope.sections[1] = rope.sections[2] = 8;
    Tensor q_positions(GYRE_I64, {3, 2, 20}), k_positions(GYRE_I32, {3, 30});
    q_positions.fill_uniform_integers(1, 0, 5000);
    k_positions.fill_uniform_integers(2, 0, 5000);
    axes.args.rope = axes.args.value_rope = &rope;
    axes.args.q_positions = axes.hold(std::move(q_positions));
    axes.args.k_positions = axes.hold(std::move(k_positions));
    axes.check_on_devices();
}

TEST_CASE("paged attention on devices: every page size, type, head size and layout") {
    const std::vector<double> used = {130, 0, 64};
    for (const int64_t page_size : {1, 16, 64, 256})
        for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD})
            for (const auto &[type, dim] : {std::pair<gyre_dtype, int64_t>{GYRE_BF16, 64}, {GYRE_F16, 96}}) {
                AttentionCase c(
                    AttentionShape().batches(3).lengths(19, 130).head_counts(2, 1).dims(dim).of(type).in(layout));
                c.args.seqused_k = c.hold(GYRE_I32, used);
                c.args.causal = page_size != 16;
                const KeyPages pages(c, page_size, used, {}, Placement::with_gaps(layout == GYRE_BHSD ? 8 : 0));
                const gyre_attention_args in_pages = pages.args();
                c.check_on_devices(&in_pages);
            }
}

TEST_CASE("paged attention on devices: rotated caches, windows, the largest heads, packed queries") {
    const gyre_rope rope = gyre_rope_defaults();
    AttentionCase c(AttentionShape().batches(2).lengths(18, 90).head_counts(4, 2).dims(128).of(GYRE_BF16));
    c.args.seqused_k = c.hold(GYRE_I32, {90, 77});
    c.args.rope = c.args.value_rope = &rope;
    c.args.keys_rotated = c.args.values_rotated = 1;
    c.args.window_left = 30;
    c.args.causal = 1;
    const KeyPages pages(c, 32, {90, 77});
    gyre_attention_args in_pages = pages.args();
    c.check_on_devices(&in_pages);

    for (const gyre_dtype type : {GYRE_BF16, GYRE_F16}) {
        AttentionCase large(AttentionShape().batches(2).lengths(17, 90).dims(256).of(type));
        large.args.seqused_k = large.hold(GYRE_I32, {90, 77});
        large.args.causal = 1;
        const KeyPages of_large(large, 16, {90, 77});
        in_pages = of_large.args();
        large.check_on_devices(&in_pages);
    }

    Packed packed(AttentionShape().head_counts(2, 1).dims(64).of(GYRE_BF16), {0, 5, 5, 60}, {0, 40, 41, 110});
    packed.c.args.causal = 1;
    packed.c.args.rope = packed.c.args.value_rope = &rope;
    packed.c.args.keys_rotated = packed.c.args.values_rotated = 1;
    const KeyPages of_packed(packed.c, 16, {40, 1, 69}, {0, 40, 41});
    in_pages = of_packed.args();
    packed.c.check_on_devices(&in_pages);
}

TEST_CASE("paged attention on devices: keys and values that are rotated in the call, of many rows and of few") {
    gyre_rope rope = gyre_rope_defaults(), part = rope;
    part.pairing = GYRE_INTERLEAVED;
    part.rotary_dim = 18;
    for (const int64_t rows : {3, 40})
        for (const int option : {0, 1, 2, 3, 4}) {
            CAPTURE(option);
            AttentionCase c(AttentionShape().batches(2).lengths(rows, 90).head_counts(4, 2).dims(64).of(
                option == 1 ? GYRE_F32 : GYRE_BF16));
            c.args.causal = 1;
            c.args.seqused_k = c.hold(GYRE_I32, {90, 77});
            c.args.rope = c.args.value_rope = &rope;
            if (option == 1) c.args.value_rope = &part;
            if (option == 2) {
                c.args.rope = nullptr;
                c.args.softcap = 3;
            }
            if (option == 3) {
                Tensor positions(GYRE_I32, {2, 96});
                positions.fill_uniform_integers(3, 0, 3000);
                Tensor of_queries(GYRE_I32, {2, rows});
                of_queries.fill_uniform_integers(4, 0, 3000);
                c.args.k_positions = c.hold(std::move(positions));
                c.args.q_positions = c.hold(std::move(of_queries));
            }
            if (option == 4) c.args.values_rotated = 1;
            const KeyPages pages(c, 16, {90, 77});
            const gyre_attention_args in_pages = pages.args();
            if (option == 3) c.args.k_positions = c.hold(first_keys(*c.args.k_positions, 90));
            c.check_on_devices(&in_pages);
        }
}

TEST_CASE("paged attention on devices: packed queries whose keys and values are rotated in the call") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const std::vector<double> &q_bounds : {std::vector<double>{0, 5, 5, 60}, {0, 1, 2, 3}})
        for (const float softcap : {0.0f, 3.0f}) {
            Packed packed(AttentionShape().head_counts(2, 1).dims(64).of(GYRE_BF16), q_bounds, {0, 40, 43, 110});
            packed.c.args.causal = 1;
            packed.c.args.softcap = softcap;
            packed.c.args.rope = packed.c.args.value_rope = &rope;
            const KeyPages pages(packed.c, 16, {40, 3, 67}, {0, 40, 43});
            const gyre_attention_args in_pages = pages.args();
            packed.c.check_on_devices(&in_pages);
        }
}

TEST_CASE("paged attention on devices: many queries take kernels without pages, after a copy") {
    AttentionCase c(AttentionShape().lengths(256, 272).head_counts(8, 1).dims(64).of(GYRE_BF16));
    c.args.seqused_k = c.hold(GYRE_I32, {267});
    c.args.causal = 1;
    const KeyPages pages(c, 16, {267});
    const gyre_attention_args in_pages = pages.args();
    c.check_on_devices(&in_pages);
    c.args = in_pages;
    each_device([&](gyre_context *context) {
        REQUIRE(c.run(context) == GYRE_OK);
        CHECK(text(gyre_selected_kernel(context)).find("attention_plain_as_stored") == 0);
    });
}
