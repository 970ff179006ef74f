/// A stride along a dimension of one element means nothing: it changes no bit and refuses no call.
#include "support/append_case.h"
#include "support/attention_case.h"
#include "support/each_kernel.h"
#include "support/merge_case.h"
#include "support/rotary_case.h"

#include <limits>

using namespace gyre::test;

namespace {

constexpr int64_t meaningless[] = {std::numeric_limits<int64_t>::min(), -1, 0, 1, INT64_C(1) << 40,
                                   std::numeric_limits<int64_t>::max()};

/// Gives every dimension of one element that stride, but for the last.
void spoil(gyre_tensor *t, int64_t stride) {
    for (int d = 0; d < t->rank - 1; d++)
        if (t->shape[d] == 1) t->strides[d] = stride;
}

} // namespace

TEST_CASE("strides of one element: attention of one entry, query and head") {
    for (const int64_t stride : meaningless) {
        CAPTURE(stride);
        AttentionCase c(AttentionShape().lengths(1, 40).dims(64)), one_key(AttentionShape().lengths(3, 1).dims(64));
        for (AttentionCase *each : {&c, &one_key}) {
            for (gyre_tensor *t : {&each->args.q, &each->args.k, &each->args.v, &each->args.out}) spoil(t, stride);
            gyre_tensor lse = *each->args.lse;
            spoil(&lse, stride);
            each->args.lse = each->hold(lse);
            each->check();
        }
    }
}

TEST_CASE("strides of one element: heads of one feature") {
    for (const int64_t stride : meaningless) {
        CAPTURE(stride);
        AttentionCase c(AttentionShape().lengths(5, 40).dims(1));
        for (gyre_tensor *t : {&c.args.q, &c.args.k, &c.args.v, &c.args.out}) t->strides[3] = stride;
        c.check();
    }
}

TEST_CASE("strides of one element: a pool with one page, and pages with one slot") {
    for (const int64_t stride : meaningless)
        for (const int64_t page_size : {1, 32}) {
            CAPTURE(stride);
            const int64_t pages = page_size == 1 ? 32 : 1;
            AttentionCase c(AttentionShape().lengths(2, 32).dims(64));
            std::vector<double> entries;
            for (int64_t n = 0; n < pages; n++) entries.push_back((double)n);
            gyre_attention_args paged = c.args;
            for (gyre_tensor *t : {&paged.k, &paged.v}) {
                t->shape[0] = pages;
                t->shape[1] = page_size;
                t->strides[0] = page_size * t->strides[1];
                spoil(t, stride);
            }
            paged.page_table = c.hold(GYRE_I32, entries, {1, pages});
            each_target([&](gyre_context *context) {
                REQUIRE(c.run(context) == GYRE_OK);
                const std::vector<uint64_t> expected = c.out.bits();
                c.out.poison();
                CHECK_MESSAGE(gyre_attention(context, &paged) == GYRE_OK, text(gyre_last_error()));
                CHECK(c.out.bits() == expected);
            });
        }
}

TEST_CASE("strides of one element: merge, rotary and append") {
    for (const int64_t stride : meaningless) {
        CAPTURE(stride);
        MergeCase merge(3, 1, 5, 1, 64);
        for (gyre_tensor *t : {&merge.args.part_out, &merge.args.part_lse, &merge.args.out, &merge.lse_view})
            spoil(t, stride);
        merge.check();

        RotaryCase rotary(RotaryShape().length(1).head_count(1).dim(64));
        spoil(&rotary.args.x, stride);
        spoil(&rotary.args.out, stride);
        rotary.check();

        AppendCase append(AppendShape().adding({1}).to({3}).head_count(1));
        for (gyre_tensor *t : {&append.args.k, &append.args.v, &append.args.k_cache, &append.args.v_cache})
            spoil(t, stride);
        append.check();
    }
}
