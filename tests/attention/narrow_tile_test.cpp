/// gyre_attention() of few queries in f16 whose rows a key head fill half of a row tile and more, but no more than a narrow one: on AVX-512 kernels
/// with row tiles of four rows take them.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/guarded_keys.h"
#include "support/masked_garbage.h"
#include "support/packed_sequences.h"

#include <algorithm>

using namespace gyre::test;

namespace {

AttentionCase case_of(int64_t queries, int64_t keys, int64_t heads, int64_t head_dim, int64_t key_heads = 1) {
    return AttentionCase(
        AttentionShape().lengths(queries, keys).head_counts(heads * key_heads, key_heads).dims(head_dim).of(GYRE_F16));
}

} // namespace

TEST_CASE("narrow tiles: which rows take them on AVX-512, and not with rotated keys or a cap") {
    const std::vector<std::string> targets = runnable_targets();
    if (std::find(targets.begin(), targets.end(), "x86_64_avx512") == targets.end()) return;
    const Context context("x86_64_avx512");
    const gyre_rope rope = gyre_rope_defaults();
    const auto is_narrow = [&](AttentionCase &c) {
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        return text(gyre_selected_kernel(context)).rfind("attention_narrow_as_stored_f16_", 0) == 0;
    };
    for (const int64_t head_dim : {64, 128})
        for (const int64_t rows : {2, 3, 4, 5}) {
            AttentionCase c = case_of(1, 64, rows, head_dim);
            CHECK(is_narrow(c) == (rows == 3 || rows == 4));
            c.args.softcap = 3;
            CHECK_FALSE(is_narrow(c));
            c.args.softcap = 0;
            c.args.rope = &rope;
            CHECK_FALSE(is_narrow(c));
        }
    AttentionCase queries = case_of(2, 5, 2, 64);
    CHECK(is_narrow(queries));
}

TEST_CASE("narrow tiles: keys around steps, blocks and parts, with windows, sinks and lse") {
    for (const int64_t head_dim : {64, 128})
        for (const int64_t keys : {1, 3, 5, 63, 65, 127, 129, 600, 1100, 2500})
            for (const int64_t heads : {2, 3, 4})
                for (const int64_t queries : {1, 2}) {
                    AttentionCase c = case_of(queries, keys, heads, head_dim, 2);
                    c.args.causal = 1;
                    c.check();
                    c.args.sinks = c.hold(GYRE_F32, std::vector<double>((size_t)(2 * heads), 1.5));
                    c.args.window_left = 21;
                    c.check();
                    c.args.lse = nullptr;
                    c.check();
                }
}

TEST_CASE("narrow tiles: nothing is read past the last key") {
    for (const int64_t head_dim : {64, 128})
        for (const int64_t keys : {1, 5, 64, 130, 256}) {
            AttentionCase c = case_of(1, keys, 4, head_dim);
            check_at_end_of_memory(c);
        }
}

TEST_CASE("narrow tiles: keys and values that a row does not see do not change its bits") {
    constexpr int64_t queries = 2, keys = 141, first_token = keys - queries;
    for (const int64_t head_dim : {64, 128}) {
        AttentionCase c = case_of(queries, keys, 2, head_dim);
        c.args.causal = 1;
        c.args.window_left = 20;
        const RowSees sees = [&](int64_t i, int64_t j) { return j <= i + first_token && j >= i + first_token - 20; };
        check_garbage(c, sees, {first_token - 21, first_token - 20, first_token - 18, keys - 1});
    }
}

TEST_CASE("narrow tiles: lengths of a cache, and threads") {
    for (const int64_t head_dim : {64, 128}) {
        AttentionCase c(AttentionShape().batches(4).lengths(1, 1100).head_counts(8, 2).dims(head_dim).of(GYRE_F16));
        c.args.causal = 1;
        c.args.seqused_k = c.hold(GYRE_I32, {1100, 65, 0, 1027});
        c.check();
        c.check_threads({1, 2, 5});
    }
}

TEST_CASE("narrow tiles: packed sequences, some of which have them, give the bits that each has alone") {
    for (const int64_t heads : {2, 3, 4})
        check_packed_and_alone(AttentionShape().head_counts(heads, 1).dims(64).of(GYRE_F16), {0, 1, 1, 5, 7},
                               {0, 1300, 1400, 1500, 4000}, [](AttentionCase &c) { c.args.causal = 1; });
}
