/// gyre_attention() of few queries on CUDA devices, whose keys are cut into parts, and gyre_attention_merge() there, against the
/// oracle.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/key_pages.h"
#include "support/merge_case.h"

#include <cmath>

using namespace gyre::test;

namespace {

bool ran_split(gyre_context *context) {
    return text(gyre_selected_kernel(context)).rfind("attention_split_as_stored_", 0) == 0 ||
           text(gyre_selected_kernel(context)).rfind("merge_", 0) == 0;
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
    for (const gyre_dtype type : {GYRE_BF16, GYRE_F16})
        for (const int64_t dim : {64, 128})
            AttentionCase(AttentionShape().lengths(1, 300).head_counts(8, 1).dims(dim).of(type)).check_on_devices();
    for (const int64_t dim : {96, 256}) // which no kernel takes in parts
        AttentionCase(AttentionShape().lengths(1, 100).head_counts(2, 1).dims(dim).of(GYRE_F16)).check_on_devices();
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

TEST_CASE("decode on devices: kernels for it take calls of few queries, and no others") {
    for (const int64_t queries : {1, 16, 17}) {
        AttentionCase c(AttentionShape().lengths(queries, 40).dims(64).of(GYRE_BF16));
        each_device([&](gyre_context *context) {
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            CHECK(ran_split(context) == (queries <= 16));
        });
    }
}

TEST_CASE("merge on devices: parts, tokens, heads, head sizes, types and layouts") {
    for (const auto &type : merge_types)
        for (const int64_t dim : {1, 64, 72, 130})
            for (const gyre_layout layout : {GYRE_BSHD, GYRE_THD})
                MergeCase(3, layout == GYRE_THD ? 1 : 2, 3, 4, dim, type[0], type[1], layout).check_on_devices();
    MergeCase(2, 1, 2, 1, 512).check_on_devices();
    for (const int64_t parts : {1, 16, 17, 40}) MergeCase(parts, 2, 5, 3, 24).check_on_devices();
    for (const double spread : {100.0, 1e4, 1e-3})
        MergeCase(6, 1, 4, 4, 32, GYRE_F32, GYRE_F32, GYRE_BSHD, spread).check_on_devices();
    MergeCase without(3, 1, 4, 2, 40);
    without.args.lse = nullptr;
    each_device([&](gyre_context *context) {
        REQUIRE_MESSAGE(without.run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK(without.lse.elements_poisoned());
    });
    MergeCase empty(3, 1, 0, 2, 40);
    each_device([&](gyre_context *context) { CHECK(empty.run(context) == GYRE_OK); });
}

TEST_CASE("merge on devices: parts that see no key are not read, and rows that no part sees give 0 and -inf") {
    MergeCase c(4, 1, 6, 3, 16);
    std::vector<double> lses = c.part_lse.values(), outs = c.part_out.values();
    for (size_t i = 0; i < lses.size(); i++)
        if (i % 6 == 2 || i % 5 == 1) lses[i] = -MergeCase::infinity;
    for (int64_t p = 0; p < 4; p++)
        for (int64_t h = 0; h < 3; h++)
            for (int64_t i = 0; i < 6; i++)
                if (lses[(size_t)((p * 3 + h) * 6 + i)] == -MergeCase::infinity)
                    for (int64_t d = 0; d < 16; d++) outs[(size_t)(((p * 6 + i) * 3 + h) * 16 + d)] = NAN;
    c.part_lse.set_values(lses);
    c.part_out.set_values(outs);
    c.check_on_devices();
}
