/// gyre_attention() with keys and values that are formed once for all tasks, where a call has many queries: the bits of tasks
/// that take them as they are stored.
#include "support/attention_case.h"
#include "support/each_kernel.h"
#include "support/kernel_facts.h"
#include "support/paged_case.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace gyre::test;

namespace {

constexpr int64_t fewest_rows = 2048; // of a key head, as runtime/attention has it

/// The tensor's heads [first, first + count), along dimension `dim`.
gyre_tensor heads_of(gyre_tensor view, int dim, int64_t first, int64_t count, int64_t element_bytes) {
    view.data = (char *)view.data + first * view.strides[dim] * element_bytes;
    view.shape[dim] = count;
    return view;
}

bool is_formed(gyre_context *context) {
    return text(gyre_selected_kernel(context)).find("_plain_formed_") != std::string::npos;
}

/// Checks that calls of few heads at a time give the same bits, where kernels take what has been formed.
void check_few_heads(AttentionCase &c) {
    const int64_t heads = c.shape.heads, at_once = heads / 4;
    each_target([&](gyre_context *context) {
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        const bool takes_formed = has_kernel_with(gyre_context_target(context), "cache=formed");
        CHECK(is_formed(context) == takes_formed);
        if (!takes_formed) return;
        const std::vector<uint64_t> out = c.out.bits(), lse = c.lse.bits();
        c.out.poison();
        c.lse.poison();
        const int dim = c.shape.layout == GYRE_THD ? 1 : 2;
        for (int64_t head = 0; head < heads; head += at_once) {
            gyre_attention_args few = c.args;
            few.q = heads_of(c.args.q, dim, head, at_once, 2);
            few.out = heads_of(c.args.out, dim, head, at_once, 2);
            gyre_tensor few_lse;
            if (c.args.lse) {
                few_lse = heads_of(*c.args.lse, c.args.lse->rank - 2, head, at_once, 4);
                few.lse = &few_lse;
            }
            REQUIRE_MESSAGE(gyre_attention(context, &few) == GYRE_OK, text(gyre_last_error()));
            CHECK_FALSE(is_formed(context));
        }
        CHECK(c.out.bits() == out);
        CHECK(c.lse.bits() == lse);
    });
}

/// A case with one key head and bshd or thd tensors: the oracle's results, and the same bits few heads at a time, with lse and
/// without.
void check(AttentionCase &c) {
    REQUIRE(c.shape.kv_heads == 1);
    c.check();
    check_few_heads(c);
    const gyre_tensor *const lse = c.args.lse;
    c.args.lse = nullptr;
    check_few_heads(c);
    c.args.lse = lse;
}

AttentionShape shape_of(int64_t queries, int64_t keys) {
    const int64_t heads = (fewest_rows + queries - 1) / queries;
    return AttentionShape().lengths(queries, keys).head_counts((heads + 3) / 4 * 4, 1).of(GYRE_BF16);
}

} // namespace

TEST_CASE("formed keys: every number of keys around the ends of blocks, rotated and not") {
    gyre_rope rope = gyre_rope_defaults();
    for (const int64_t head_dim : {64, 128})
        for (const int64_t keys : {1, 31, 32, 33, 255, 256, 257, 543})
            for (const bool rotated : {false, true}) {
                AttentionCase c(shape_of(60, keys).dims(head_dim));
                if (rotated) c.args.rope = c.args.value_rope = &rope;
                check(c);
            }
}

TEST_CASE("formed keys: from exactly so many rows on") {
    AttentionCase c(shape_of(512, 70).dims(64));
    REQUIRE(c.shape.seqlen_q * c.shape.heads == fewest_rows);
    check(c);
}

TEST_CASE("formed keys: masks that come to ranges, wherever these begin and end, beside one that does not") {
    gyre_rope rope = gyre_rope_defaults();
    struct Range {
        int64_t first, end, beyond;
    };
    const Range ranges[] = {{37, 700, 200}, {0, 251, 700}, {290, 291, 700}, {0, 700, 200}};
    AttentionCase c(shape_of(500, 700).batches(4).dims(64));
    c.args.rope = c.args.value_rope = &rope;
    Tensor mask(GYRE_BOOL, {4, 1, 500, 700});
    for (int64_t b = 0; b < 4; b++)
        for (int64_t j = 0; j < 700; j++) {
            const auto [first, end, beyond] = ranges[b];
            const bool in_range = j >= first && j < end;
            for (int64_t i = 0; i < 500; i++)
                mask.set({b, 0, i, j}, in_range && j <= i + beyond && !(b == 3 && j == 40 && i == 499));
            for (int64_t d = 0; d < 64 && !in_range; d++) {
                c.k.set({b, j, 0, d}, std::nan(""));
                c.v.set({b, j, 0, d}, INFINITY);
            }
        }
    c.args.mask = c.hold(std::move(mask));
    check(c);
}

TEST_CASE("formed keys: causal, windows, partial and interleaved rotations, strides, lengths of 0") {
    gyre_rope rope = gyre_rope_defaults(), partial = rope;
    partial.rotary_dim = 32;
    partial.pairing = GYRE_INTERLEAVED;
    AttentionCase causal(shape_of(500, 700).batches(3).dims(64).in(GYRE_BSHD, Placement::with_gaps(5)));
    causal.args.causal = 1;
    causal.args.rope = &rope;
    causal.args.value_rope = &partial;
    causal.args.seqused_k = causal.hold(GYRE_I32, {700, 0, 333});
    check(causal);
    for (const int64_t left : {0, 40, 300}) {
        AttentionCase window(shape_of(1100, 1100).dims(64));
        window.args.causal = 1;
        window.args.window_left = left;
        window.args.rope = &rope;
        check(window);
    }
}

TEST_CASE("formed keys: packed sequences, empty ones among them") {
    gyre_rope rope = gyre_rope_defaults();
    AttentionCase c(AttentionShape().lengths(1300, 1500).head_counts(8, 1).dims(128).of(GYRE_BF16).in(GYRE_THD));
    c.args.cu_seqlens_q = c.hold(GYRE_I32, {0, 500, 700, 700, 1300});
    c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, 650, 690, 690, 1500});
    c.args.causal = 1;
    c.args.rope = c.args.value_rope = &rope;
    check(c);
}

TEST_CASE("formed keys: several key heads and batches, whatever the number of threads") {
    gyre_rope rope = gyre_rope_defaults();
    AttentionCase c(AttentionShape().batches(2).lengths(530, 600).head_counts(8, 2).dims(64).of(GYRE_BF16));
    c.args.rope = &rope;
    c.check();
    for (const std::string &target : runnable_targets()) {
        std::vector<uint64_t> out;
        for (const int32_t threads : {1, 2, 5}) {
            const Context context(target.c_str(), threads);
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            if (threads == 1) out = c.out.bits();
            CHECK(c.out.bits() == out);
        }
    }
}

TEST_CASE("formed keys: scores beyond every limit take the exact way, as they do where keys are not formed") {
    AttentionCase c(shape_of(300, 400).dims(64));
    c.q.fill_normal(5, 200.0);
    c.k.fill_normal(6, 200.0);
    check(c);
    // One large key in one of two blocks of values.
    AttentionCase one(shape_of(300, 1400).dims(64));
    for (int64_t d = 0; d < 64; d++) one.k.set({0, 1100, 0, d}, 500.0);
    check(one);
}

TEST_CASE("formed keys: a value that is not finite, of either of two neighbours, reaches the rows that see it") {
    for (const int64_t key : {500, 501})
        for (const double value : {std::nan(""), (double)INFINITY}) {
            AttentionCase c(shape_of(512, 600).dims(64));
            c.args.causal = 1;
            c.v.set({0, key, 0, 5}, value);
            c.check();
        }
}

TEST_CASE("formed keys: of paged caches") {
    gyre_rope rope = gyre_rope_defaults();
    for (const int64_t page_size : {16, 256}) {
        PagedCase c(AttentionShape().batches(3).lengths(270, 600).head_counts(16, 2).dims(64).of(GYRE_BF16), page_size,
                    {600, 301, 0});
        c.plain.args.causal = 1;
        c.plain.args.rope = &rope;
        c.check();
    }
}
