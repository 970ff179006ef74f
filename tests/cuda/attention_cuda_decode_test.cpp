/// gyre_attention() of few queries on CUDA devices, whose keys are cut into parts, against the oracle.
#include "fake_driver.h"
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/key_pages.h"
#include "support/random.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool ran(gyre_context *context, const char *kernel) {
    return text(gyre_selected_kernel(context)).rfind(kernel, 0) == 0;
}

bool ran_split(gyre_context *context) {
    return ran(context, "attention_split_as_stored_") || ran(context, "attention_decode_") || ran(context, "merge_");
}

/// Three queries of six heads, three a key head, to keys of several parts.
AttentionCase with_options(gyre_dtype type = GYRE_BF16, int64_t dim = 64) {
    return AttentionCase(AttentionShape().batches(2).lengths(3, 600).head_counts(6, 2).dims(dim).of(type));
}

void check_general(AttentionCase &c) {
    c.check_on_devices();
    each_device([&](gyre_context *context) {
        REQUIRE(c.run(context) == GYRE_OK);
        CHECK(ran(context, "attention_decode_"));
    });
}

const gyre_tensor *score_tensor(AttentionCase &c, gyre_dtype type, const std::vector<int64_t> &shape, double hidden) {
    Tensor tensor(type, shape, Placement::with_gaps(3));
    Random random(7);
    std::vector<double> values;
    for (int64_t i = 0; i < tensor.count(); i++) {
        const bool hides = random.chance(hidden);
        values.push_back(type == GYRE_BOOL ? !hides : hides ? -infinity : 4 * random.uniform() - 2);
    }
    tensor.set_values(values);
    return c.hold(std::move(tensor));
}

} // namespace

TEST_CASE("decode on devices: lengths around blocks and parts, one query and the most, causal or not") {
    for (const int64_t keys : {1, 31, 129, 1000})
        for (const int64_t queries : {1, 5, 16})
            for (const int causal : {0, 1}) {
                AttentionCase c(AttentionShape().lengths(queries, keys).head_counts(4, 2).dims(64).of(GYRE_BF16));
                c.args.causal = causal;
                c.check_on_devices();
            }
}

TEST_CASE("decode on devices: every type and head size, heads of a group in one tile and in several, layouts") {
    for (const gyre_dtype type : {GYRE_BF16, GYRE_F16, GYRE_F32})
        for (const int64_t dim : {64, 96, 128, 256}) {
            if (type == GYRE_F32 && dim > 128) continue;
            AttentionCase c(AttentionShape().lengths(1, 300).head_counts(8, 1).dims(dim).of(type));
            c.check_on_devices();
            each_device([&](gyre_context *context) {
                REQUIRE(c.run(context) == GYRE_OK);
                CHECK(ran_split(context));
            });
        }
    const int64_t counts[][2] = {{1, 1}, {14, 2}, {5, 1}, {32, 1}, {17, 1}};
    for (const auto &heads : counts)
        for (const int64_t queries : {1, 3}) {
            AttentionCase c(AttentionShape()
                                .batches(2)
                                .lengths(queries, 260)
                                .head_counts(heads[0], heads[1])
                                .dims(64)
                                .of(GYRE_F16)
                                .in(queries == 3 ? GYRE_BHSD : GYRE_BSHD, Placement::with_gaps(8)));
            c.args.causal = 1;
            c.check_on_devices();
            c.args.lse = nullptr;
            c.check_on_devices();
        }
}

TEST_CASE(
    "decode on devices: windows, alignments, and key lengths, none among them, without reading what is not used") {
    for (const gyre_alignment alignment : {GYRE_BOTTOM_RIGHT, GYRE_TOP_LEFT})
        for (const int64_t window : {0, 10, 150}) {
            AttentionCase c(AttentionShape().batches(4).lengths(3, 600).head_counts(4, 2).dims(64).of(GYRE_BF16));
            const std::vector<double> used = {600, 1, 0, 257};
            c.args.alignment = alignment;
            c.args.causal = 1;
            c.args.window_left = window;
            c.args.seqused_k = c.hold(GYRE_I32, used);
            for (int64_t b = 0; b < 4; b++)
                for (Tensor *tensor : {&c.k, &c.v})
                    for (int64_t token = (int64_t)used[(size_t)b]; token < 600; token++)
                        for (int64_t h = 0; h < 2; h++)
                            for (int64_t d = 0; d < 64; d++) tensor->set({b, token, h, d}, std::nan(""));
            c.check_on_devices();
        }
    AttentionCase none(AttentionShape().lengths(2, 0).head_counts(4, 1).dims(64).of(GYRE_F16));
    none.check_on_devices();
}

TEST_CASE("decode on devices: RoPE and RoPER with rotated caches, in pages of every kind, scales") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const int64_t page_size : {1, 16, 64}) {
        AttentionCase c(AttentionShape().batches(3).lengths(2, 330).head_counts(6, 2).dims(64).of(GYRE_BF16));
        const std::vector<double> used = {330, 0, 64};
        c.args.seqused_k = c.hold(GYRE_I32, used);
        c.args.causal = 1;
        c.args.rope = c.args.value_rope = &rope;
        c.args.keys_rotated = c.args.values_rotated = 1;
        c.args.scale = page_size == 16 ? -0.3f : 0.2f;
        c.check_on_devices();
        const KeyPages pages(c, page_size, used);
        const gyre_attention_args in_pages = pages.args();
        c.check_on_devices(&in_pages);
    }
}

TEST_CASE("decode on devices: packed sequences of few queries, as they are and in pages, and lists that are wrong") {
    AttentionCase c(AttentionShape().lengths(9, 420).head_counts(12, 2).dims(64).of(GYRE_BF16).in(GYRE_THD));
    c.args.cu_seqlens_q = c.hold(GYRE_I32, {0, 1, 1, 8, 9});
    c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, 290, 300, 310, 420});
    c.check_on_devices();
    c.args.causal = 1;
    c.check_on_devices();
    const KeyPages pages(c, 16, {290, 10, 10, 110}, {0, 290, 300, 310});
    const gyre_attention_args in_pages = pages.args();
    c.check_on_devices(&in_pages);
    const WrongLists lead_blocks_to_one_place;
    for (const std::vector<double> &wrong : {std::vector<double>{0, 9, 3, 400, 2}, {-9, 1e9, 5, -1e9, 9}})
        for (const bool of_queries : {false, true}) {
            AttentionCase spoilt(
                AttentionShape().lengths(9, 420).head_counts(4, 2).dims(64).of(GYRE_BF16).in(GYRE_THD));
            spoilt.args.cu_seqlens_q = spoilt.hold(GYRE_I32, {0, 1, 1, 8, 9});
            spoilt.args.cu_seqlens_k = spoilt.hold(GYRE_I32, {0, 290, 300, 310, 420});
            (of_queries ? spoilt.args.cu_seqlens_q : spoilt.args.cu_seqlens_k) = spoilt.hold(GYRE_I32, wrong);
            each_device([&](gyre_context *context) { CHECK(spoilt.run(context) == GYRE_OK); });
        }
}

TEST_CASE("decode on devices: caps, of every type and head size") {
    for (const gyre_dtype type : {GYRE_BF16, GYRE_F16, GYRE_F32})
        for (const int64_t dim : {64, 96, 128, 256}) {
            if (type == GYRE_F32 && dim > 128) continue;
            AttentionCase c = with_options(type, dim);
            c.args.softcap = dim == 96 ? 0.5f : 20.0f;
            c.args.causal = dim == 64;
            check_general(c);
        }
}

TEST_CASE("decode on devices: slopes of ALiBi, of each head of a group and query, in both alignments, with lengths") {
    for (const gyre_alignment alignment : {GYRE_BOTTOM_RIGHT, GYRE_TOP_LEFT})
        for (const int causal : {0, 1}) {
            AttentionCase c = with_options(causal ? GYRE_F16 : GYRE_BF16);
            c.args.alignment = alignment;
            c.args.causal = causal;
            c.args.alibi = c.hold(GYRE_F32, {0.5, 0.25, 0.125, 0.0625, 0.003, 0});
            check_general(c);
            c.args.seqused_k = c.hold(GYRE_I32, {600, 41});
            c.args.window_left = 130;
            check_general(c);
        }
}

TEST_CASE("decode on devices: biases of every type and masks, of heads and queries of their own and broadcast") {
    for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16, GYRE_BOOL})
        for (const std::vector<int64_t> &shape :
             {std::vector<int64_t>{2, 6, 3, 600}, {1, 6, 3, 1}, {2, 1, 3, 600}, {600}}) {
            const bool of_16_bits = type == GYRE_F16 || type == GYRE_BF16;
            if (of_16_bits && shape.size() < 4) continue; // read by the same indices
            AttentionCase c = with_options(type == GYRE_F16 ? GYRE_F16 : GYRE_BF16);
            const gyre_tensor *tensor = score_tensor(c, type, shape, shape.back() == 1 ? 0 : 0.3);
            (type == GYRE_BOOL ? c.args.mask : c.args.bias) = tensor;
            c.args.causal = 1;
            check_general(c);
        }
}

TEST_CASE("decode on devices: masks that hide parts, rows and everything, and sinks, which join all parts once") {
    for (const double sink : {-30.0, 0.0, 60.0, -infinity})
        for (const bool capped : {false, true}) {
            AttentionCase c = with_options(capped ? GYRE_BF16 : GYRE_F16);
            c.args.softcap = capped ? 15.0f : 0;
            c.args.sinks = c.hold(GYRE_F32, {sink, 0.5, 2, -1, sink, 3});
            c.check_on_devices();
            c.args.seqused_k = c.hold(GYRE_I32, {0, 131}); // a sequence of rows that see nothing
            c.check_on_devices();
        }
    for (const int64_t first_seen : {1, 128, 300, 599, 600}) {
        AttentionCase c = with_options();
        Tensor mask(GYRE_BOOL, {3, 600});
        for (int64_t i = 0; i < 3; i++)
            for (int64_t j = 0; j < 600; j++) mask.set({i, j}, i == 1 ? j < first_seen : j >= first_seen);
        c.args.mask = c.hold(std::move(mask));
        check_general(c);
        c.args.sinks = c.hold(GYRE_F32, {0.25, 0.5, 2, -1, 1, 3});
        check_general(c);
    }
}

TEST_CASE("decode on devices: all options, with rotated caches, packed, in pages, one query and the most") {
    const gyre_rope rope = gyre_rope_defaults();
    AttentionCase packed(AttentionShape().lengths(9, 420).head_counts(6, 2).dims(64).of(GYRE_BF16).in(GYRE_THD));
    packed.args.cu_seqlens_q = packed.hold(GYRE_I32, {0, 1, 1, 8, 9});
    packed.args.cu_seqlens_k = packed.hold(GYRE_I32, {0, 290, 300, 310, 420});
    packed.args.causal = 1;
    packed.args.softcap = 10;
    packed.args.alibi = packed.hold(GYRE_F32, {0.1, 0.02, 0.3, 0, 0.01, 0.5});
    packed.args.sinks = packed.hold(GYRE_F32, {0.5, 3, -2, 1, 0, 0.1});
    packed.args.rope = packed.args.value_rope = &rope;
    packed.args.keys_rotated = packed.args.values_rotated = 1;
    check_general(packed);
    const KeyPages pages(packed, 16, {290, 10, 10, 110}, {0, 290, 300, 310});
    const gyre_attention_args in_pages = pages.args();
    packed.check_on_devices(&in_pages);
    for (const int64_t queries : {1, 16}) {
        AttentionCase c(AttentionShape().lengths(queries, 333).head_counts(5, 1).dims(128).of(GYRE_F16));
        c.args.softcap = 10;
        c.args.scale = -0.3f;
        c.args.alibi = c.hold(GYRE_F32, {0.1, 0.02, 0.3, 0, 0.01});
        c.args.bias = score_tensor(c, GYRE_F32, {1, 5, queries, 333}, 0.2);
        c.args.mask = score_tensor(c, GYRE_BOOL, {1, 1, queries, 333}, 0.1);
        check_general(c);
    }
}

TEST_CASE("decode on devices: what is not finite in values that a mask hides reaches no result") {
    for (const gyre_dtype type : {GYRE_BF16, GYRE_F32}) {
        AttentionCase c = with_options(type);
        Tensor mask(GYRE_BOOL, {2, 1, 1, 600});
        for (int64_t b = 0; b < 2; b++)
            for (int64_t j = 0; j < 600; j++) {
                const bool hidden = j % 7 == 3 || (j > 200 && j < 300);
                mask.set({b, 0, 0, j}, !hidden);
                if (hidden) c.v.set({b, j, j % 2, j % 64}, j % 3 ? NAN : infinity);
            }
        c.args.mask = c.hold(std::move(mask));
        check_general(c);
    }
}

TEST_CASE("decode on devices: kernels for it take calls of few queries, and no others") {
    for (const int64_t queries : {1, 16, 17}) {
        AttentionCase c(AttentionShape().lengths(queries, 40).dims(64).of(GYRE_BF16));
        each_device([&](gyre_context *context) {
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            CHECK(ran_split(context) == (queries <= 16));
        });
    }
}
