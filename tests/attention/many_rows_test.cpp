/// gyre_attention() of few queries with so many rows a key head, in f32 and f16, that kernels for many queries take them, in parts of the keys.
#include "support/attention_case.h"
#include "support/batch_entry.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/masked_garbage.h"

#include <algorithm>

using namespace gyre::test;

namespace {

/// Rows a key head that fill at least seven of ten rows of each row tile, of 24 and of 48.
constexpr int64_t heads = 71;

bool ran(gyre_context *context, const char *begin) { return text(gyre_selected_kernel(context)).rfind(begin, 0) == 0; }

bool ran_plain(gyre_context *context) { return ran(context, "attention_plain_f32"); }

bool ran_own(gyre_context *context) { return ran(context, "attention_many_rows_"); }

/// True if the target has such kernels in f32.
bool has_kernels(const std::string &target) {
    return target.find("avx2") != std::string::npos || target == "x86_64_avx512";
}

bool ran_many(gyre_context *context, const std::string &target) {
    return target == "x86_64_avx512" ? ran_own(context) : ran_plain(context);
}

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
        if (has_kernels(target)) CHECK_MESSAGE(ran_many(context, target), text(gyre_selected_kernel(context)));
        REQUIRE_MESSAGE(few.run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK_FALSE(ran_plain(context));
        CHECK_FALSE(ran_own(context));
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
    for (const std::string &target : runnable_targets()) {
        if (!has_kernels(target)) continue;
        const Context context(target.c_str());
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK_MESSAGE(ran_many(context, target), text(gyre_selected_kernel(context)));
    }
}

TEST_CASE("many rows: numbers of f16 are made f32 on AVX-512, where head sizes are small and rows are many") {
    const std::vector<std::string> targets = runnable_targets();
    if (std::find(targets.begin(), targets.end(), "x86_64_avx512") == targets.end()) return;
    const Context context("x86_64_avx512");
    const auto run_plain = [&](int64_t of_head, int64_t head_dim) {
        AttentionCase c(AttentionShape().lengths(1, 600).head_counts(of_head, 1).dims(head_dim).of(GYRE_F16));
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        return ran_plain(context);
    };
    CHECK_FALSE(run_plain(heads, 64)); // which has kernels of its own
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

TEST_CASE("many rows: the fewest rows of AVX-512's own kernels, in one call and beside other sequences") {
    const std::vector<std::string> targets = runnable_targets();
    if (std::find(targets.begin(), targets.end(), "x86_64_avx512") == targets.end()) return;
    const Context context("x86_64_avx512");
    struct Least {
        gyre_dtype dtype;
        int64_t head_dim, rows;
    };
    for (const Least &least : {Least{GYRE_F32, 64, 13}, {GYRE_F32, 128, 17}, {GYRE_F16, 64, 9}, {GYRE_F16, 128, 25}})
        for (const int64_t rows : {least.rows - 1, least.rows}) {
            AttentionCase c(AttentionShape().lengths(1, 140).head_counts(rows, 1).dims(least.head_dim).of(least.dtype));
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            CHECK(ran_own(context) == (rows == least.rows));
            const gyre_rope rope = gyre_rope_defaults();
            c.args.rope = &rope;
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            CHECK_FALSE(ran_own(context));
        }
}

TEST_CASE("many rows: the fewest rows that fill seven of ten places of vectors, in plain and padded kernels") {
    struct Rows {
        const char *target;
        int64_t head_dim, rows;
        bool are_many;
    };
    const std::vector<std::string> targets = runnable_targets();
    for (const Rows &r : {Rows{"x86_64_avx2", 64, 11, false},
                          {"x86_64_avx2", 64, 12, true},
                          {"x86_64_avx2", 64, 16, true},
                          {"x86_64_avx512", 72, 22, false},
                          {"x86_64_avx512", 72, 23, true},
                          {"x86_64_avx512", 72, 32, true},
                          {"x86_64_avx512", 72, 33, false},
                          {"x86_64_avx512", 72, 34, true}}) {
        if (std::find(targets.begin(), targets.end(), r.target) == targets.end()) continue;
        INFO(r.target, " ", r.rows, " rows of ", r.head_dim);
        const Context context(r.target);
        AttentionCase c(AttentionShape().lengths(1, 600).head_counts(r.rows, 1).dims(r.head_dim));
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        CHECK((r.head_dim == 72 ? ran_own(context) : ran_plain(context)) == r.are_many);
    }
}

TEST_CASE("many rows: numbers of rows around vectors and row tiles, of keys around steps, blocks and parts") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16})
        for (const int64_t head_dim : {64, 128})
            for (const int64_t rows : {9, 16, 17, 25, 33, 48, 49})
                for (const int64_t keys : {1, 7, 9, 63, 65, 129, 1100}) {
                    AttentionCase c(
                        AttentionShape().lengths(1, keys).head_counts(2 * rows, 2).dims(head_dim).of(dtype));
                    c.check();
                    c.args.window_left = 21;
                    c.check();
                }
}

TEST_CASE("many rows: keys and values that a row does not see do not change its bits") {
    constexpr int64_t queries = 7, keys = 141, first_token = keys - queries;
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16})
        for (const int64_t head_dim : {64, 128}) {
            AttentionCase c(AttentionShape().lengths(queries, keys).head_counts(10, 2).dims(head_dim).of(dtype));
            c.args.causal = 1;
            check_garbage(c, [&](int64_t i, int64_t j) { return j <= i + first_token; }, {keys - 3, keys - 1});
            c.args.window_left = 20;
            const RowSees sees = [&](int64_t i, int64_t j) {
                return j <= i + first_token && j >= i + first_token - 20;
            };
            check_garbage(c, sees, {first_token - 21, first_token - 20, first_token - 18, keys - 1});
        }
}
