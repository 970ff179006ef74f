/// gyre_attention() of few queries with so many rows a key head, in f32 and f16, that kernels for many queries take them, in parts of the keys.
#include "support/attention_case.h"
#include "support/batch_entry.h"
#include "support/compare.h"
#include "support/each_kernel.h"

#include <algorithm>

using namespace gyre::test;

namespace {

/// Rows a key head that fill at least seven of ten rows of each row tile, of 24 and of 48.
constexpr int64_t heads = 71;

bool ran_plain(gyre_context *context) { return text(gyre_selected_kernel(context)).find("attention_plain_f32") == 0; }

AttentionCase case_of(int64_t queries, int64_t keys, int64_t head_dim, int64_t kv_heads = 1) {
    return AttentionCase(
        AttentionShape().batches(2).lengths(queries, keys).head_counts(heads * kv_heads, kv_heads).dims(head_dim));
}

} // namespace

TEST_CASE("many rows: kernels for many queries take them in f32 on AVX2 and AVX-512, and no others") {
    for (const std::string &target : runnable_targets()) {
        if (target.find("x86_64") != 0) continue;
        const Context context(target.c_str());
        AttentionCase many = case_of(1, 100, 64), few(AttentionShape().lengths(1, 100).head_counts(4, 1).dims(64));
        REQUIRE_MESSAGE(many.run(context) == GYRE_OK, text(gyre_last_error()));
        const bool has_vectors = target.find("avx2") != std::string::npos || target == "x86_64_avx512";
        if (has_vectors) CHECK_MESSAGE(ran_plain(context), text(gyre_selected_kernel(context)));
        REQUIRE_MESSAGE(few.run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK_FALSE(ran_plain(context));
    }
}

TEST_CASE("many rows: one part and several, with sinks, lse and edges, several queries and any head size") {
    for (const int64_t keys : {1, 40, 1100, 2500})
        for (const int64_t head_dim : {64, 72})
            for (const int64_t queries : {1, 3}) {
                AttentionCase c = case_of(queries, keys, head_dim, 2);
                c.args.causal = 1;
                c.check();
                c.args.sinks = c.hold(GYRE_F32, std::vector<double>(2 * heads, 1.5));
                c.check();
                c.args.window_left = 900;
                c.check();
                c.args.lse = nullptr;
                c.check();
            }
}

TEST_CASE("many rows: entries of a cache of other lengths") {
    AttentionCase c = case_of(2, 2100, 64);
    c.args.seqused_k = c.hold(GYRE_I32, {2100, 70});
    c.args.causal = 1;
    c.check();
}

TEST_CASE("many rows: numbers of f16 are made f32 on AVX-512, where head sizes are small and rows are many") {
    const std::vector<std::string> targets = runnable_targets();
    if (std::find(targets.begin(), targets.end(), "x86_64_avx512") == targets.end()) return;
    const Context context("x86_64_avx512");
    const auto run_plain = [&](int64_t of_head, int64_t head_dim) {
        AttentionCase c(AttentionShape().lengths(1, 70).head_counts(of_head, 1).dims(head_dim).of(GYRE_F16));
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        return ran_plain(context);
    };
    CHECK(run_plain(heads, 64));
    CHECK(run_plain(heads, 72));
    CHECK_FALSE(run_plain(heads, 136));
    CHECK_FALSE(run_plain(12, 64));
}

TEST_CASE("many rows: f16 in one part and several, with every option, layout and kind of cache") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const int64_t keys : {1, 40, 2500})
        for (const int64_t head_dim : {64, 72})
            for (const int64_t queries : {1, 3}) {
                AttentionCase c(AttentionShape()
                                    .batches(2)
                                    .lengths(queries, keys)
                                    .head_counts(2 * heads, 2)
                                    .dims(head_dim, head_dim - 8)
                                    .of(GYRE_F16)
                                    .in(queries == 1 ? GYRE_BSHD : GYRE_BHSD, Placement::with_gaps(3)));
                c.args.causal = 1;
                c.check();
                c.args.sinks = c.hold(GYRE_F32, std::vector<double>(2 * heads, 1.5));
                c.args.seqused_k = c.hold(GYRE_I32, {(double)keys, (double)(keys / 3)});
                c.args.window_left = 900;
                c.args.rope = &rope;
                c.args.keys_rotated = 1;
                c.check();
                c.args.lse = nullptr;
                c.check();
            }
    AttentionCase in_place(AttentionShape().lengths(3, 70).head_counts(heads, 1).dims(64).of(GYRE_F16));
    in_place.check_in_place();
}

TEST_CASE("many rows: the number of threads does not change a bit") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16}) {
        AttentionCase c(AttentionShape().batches(2).lengths(16, 2200).head_counts(heads, 1).dims(64).of(dtype));
        c.args.causal = 1;
        c.check_threads({1, 2, 5, 16});
    }
}
