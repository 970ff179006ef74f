/// gyre_attention() of few queries of head size 256, for which some targets have kernels of its own: row tiles of four rows, sums across lanes in f32.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/guarded_keys.h"
#include "support/masked_garbage.h"

using namespace gyre::test;

namespace {

constexpr int64_t head_dim = 256;
constexpr gyre_dtype types[] = {GYRE_F32, GYRE_F16, GYRE_BF16};

AttentionCase case_of(gyre_dtype dtype, int64_t queries, int64_t keys, int64_t heads, int64_t key_heads = 1) {
    return AttentionCase(
        AttentionShape().lengths(queries, keys).head_counts(heads, key_heads).dims(head_dim).of(dtype));
}

} // namespace

TEST_CASE("wide heads: four rows a key head have kernels of their size where vectors gain by them, and else padded "
          "ones in place") {
    for (const std::string &target : runnable_targets()) {
        if (target != "x86_64_avx512_bf16" && target != "x86_64_avx512" && target != "x86_64_avx2") continue;
        const Context context(target.c_str());
        for (const gyre_dtype dtype : types) {
            AttentionCase c = case_of(dtype, 1, 300, 4);
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const std::string name = text(gyre_selected_kernel(context));
            const bool is_padded = dtype == GYRE_BF16 && target != "x86_64_avx512_bf16";
            CHECK_MESSAGE(name.find(is_padded ? "_dmax512__" : "_d256__") != std::string::npos, name);
            CHECK_MESSAGE(name.find(is_padded ? "_narrow_as_stored_" : "_split_as_stored_") != std::string::npos, name);
        }
    }
}

TEST_CASE("wide heads: rows that see few keys have keys along the lanes in bf16") {
    const std::vector<std::string> targets = runnable_targets();
    if (std::find(targets.begin(), targets.end(), "x86_64_avx512_bf16") == targets.end()) return;
    const Context context("x86_64_avx512_bf16");
    for (const int64_t keys : {28, 42, 43}) { // 12 rows
        AttentionCase c = case_of(GYRE_BF16, 6, keys, 2);
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        const std::string name = text(gyre_selected_kernel(context));
        CHECK_MESSAGE(name.find(12 * keys <= 512 ? "_decode_" : "_split_as_stored_") != std::string::npos, name);
    }
}

TEST_CASE("wide heads: numbers of rows around row tiles, of keys around steps, blocks and parts, with windows, sinks "
          "and lse") {
    for (const gyre_dtype dtype : types)
        for (const int64_t keys : {1, 3, 255, 257, 1030})
            for (const int64_t heads : {1, 2, 3, 4, 5, 8})
                for (const int64_t queries : {1, 3}) {
                    AttentionCase c = case_of(dtype, queries, keys, heads);
                    c.args.causal = 1;
                    c.check();
                    c.args.sinks = c.hold(GYRE_F32, std::vector<double>((size_t)heads, 1.5));
                    c.args.window_left = 21;
                    c.check();
                    c.args.lse = nullptr;
                    c.check();
                }
}

TEST_CASE("wide heads: a cap and ALiBi") {
    for (const gyre_dtype dtype : types)
        for (const int64_t heads : {2, 4, 8}) {
            AttentionCase c = case_of(dtype, 2, 150, heads, heads / 2);
            c.args.causal = 1;
            c.args.softcap = 3;
            c.check();
            c.args.alibi = c.hold(GYRE_F32, std::vector<double>((size_t)heads, 0.25));
            c.check();
        }
}

TEST_CASE("wide heads: nothing is read past the last key") {
    for (const gyre_dtype dtype : types)
        for (const int64_t keys : {1, 5, 130, 256})
            for (const int64_t heads : {2, 4}) {
                AttentionCase c = case_of(dtype, 1, keys, heads);
                check_at_end_of_memory(c);
            }
}

TEST_CASE("wide heads: keys and values that a row does not see do not change its bits") {
    constexpr int64_t queries = 3, keys = 141, first_token = keys - queries;
    for (const gyre_dtype dtype : types) {
        AttentionCase c = case_of(dtype, queries, keys, 4);
        c.args.causal = 1;
        c.args.window_left = 20;
        const RowSees sees = [&](int64_t i, int64_t j) { return j <= i + first_token && j >= i + first_token - 20; };
        check_garbage(c, sees, {first_token - 21, first_token - 20, first_token - 18, keys - 1});
    }
}

TEST_CASE("wide heads: a sequence's keys, as many as it has") {
    for (const gyre_dtype dtype : types) {
        AttentionCase c(AttentionShape().batches(4).lengths(1, 1100).head_counts(8, 2).dims(head_dim).of(dtype));
        c.args.causal = 1;
        c.args.seqused_k = c.hold(GYRE_I32, {1100, 1, 0, 1027});
        c.check();
    }
}
