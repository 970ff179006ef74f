/// gyre_attention() of few queries in bf16 whose kernels read pairs of keys' features and of neighbouring keys' values where they are: several heads
/// a key head.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/masked_garbage.h"

using namespace gyre::test;

namespace {

/// `heads` on each of two key heads.
AttentionCase case_of(int64_t queries, int64_t keys, int64_t heads, int64_t head_dim = 64) {
    return AttentionCase(
        AttentionShape().lengths(queries, keys).head_counts(2 * heads, 2).dims(head_dim).of(GYRE_BF16));
}

bool is_of_pairs(gyre_context *context) {
    return text(gyre_selected_kernel(context)).find("attention_split_as_stored_bf16_") == 0;
}

} // namespace

TEST_CASE("pairs in place: their kernels take bf16 of 8 heads a key head on AVX512-BF16, and neither other options nor "
          "rotated keys") {
    for (const std::string &target : runnable_targets()) {
        if (target != "x86_64_avx512_bf16") continue;
        const Context context(target.c_str());
        for (const int64_t head_dim : {64, 128}) {
            AttentionCase c = case_of(1, 70, 8, head_dim);
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            CHECK_MESSAGE(is_of_pairs(context), text(gyre_selected_kernel(context)));
            c.args.softcap = 3;
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            CHECK_FALSE(is_of_pairs(context));
            c.args.softcap = 0;
            gyre_rope rope = gyre_rope_defaults();
            c.args.rope = &rope;
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            CHECK_FALSE(is_of_pairs(context));
        }
    }
}

TEST_CASE("pairs in place: numbers of keys around pairs, groups, blocks and parts, of rows around row tiles, with "
          "sinks, lse and windows") {
    for (const int64_t head_dim : {64, 128})
        for (const int64_t keys : {1, 2, 7, 8, 9, 127, 129, 1100})
            for (const int64_t heads : {5, 8, 9})
                for (const int64_t queries : {1, 5}) {
                    AttentionCase c = case_of(queries, keys, heads, head_dim);
                    c.args.causal = 1;
                    c.check();
                    c.args.sinks = c.hold(GYRE_F32, std::vector<double>((size_t)(2 * heads), 1.5));
                    c.args.window_left = 21;
                    c.check();
                    c.args.lse = nullptr;
                    c.check();
                }
}

TEST_CASE("pairs in place: a sequence's keys, as many as it has") {
    AttentionCase c(AttentionShape().batches(4).lengths(3, 2100).head_counts(16, 2).dims(64).of(GYRE_BF16));
    c.args.causal = 1;
    c.args.seqused_k = c.hold(GYRE_I32, {2100, 1, 0, 1027});
    c.check();
}

TEST_CASE("pairs in place: keys and values that a row does not see do not change its bits, in pairs of which it sees "
          "one key too") {
    constexpr int64_t queries = 4, keys = 141, first_token = keys - queries;
    for (const int64_t heads : {5, 8}) {
        AttentionCase c = case_of(queries, keys, heads);
        c.args.causal = 1;
        check_garbage(c, [&](int64_t i, int64_t j) { return j <= i + first_token; }, {keys - 3, keys - 2, keys - 1});
        c.args.window_left = 20;
        const RowSees sees = [&](int64_t i, int64_t j) { return j <= i + first_token && j >= i + first_token - 20; };
        check_garbage(c, sees, {first_token - 21, first_token - 20, first_token - 18, keys - 1});
    }
}
