/// gyre_attention() of few queries whose rows a key head fill half of a row tile and more, but no more than a narrow one: on AVX-512, and
/// in bf16 on AVX512-BF16, kernels with row tiles of four rows take them.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/guarded_keys.h"
#include "support/masked_garbage.h"
#include "support/packed_sequences.h"

#include <algorithm>

using namespace gyre::test;

namespace {

AttentionCase case_of(gyre_dtype type, int64_t queries, int64_t keys, int64_t heads, int64_t head_dim,
                      int64_t key_heads = 1) {
    return AttentionCase(
        AttentionShape().lengths(queries, keys).head_counts(heads * key_heads, key_heads).dims(head_dim).of(type));
}

template <class Check>
void each_type_and_size(Check &&check) {
    for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16})
        for (const int64_t head_dim : {64, 128}) check(type, head_dim);
}

struct Narrow {
    const char *target, *family;
    gyre_dtype type;
    int64_t whole_from, three_from; // so many keys
};
constexpr Narrow narrow[] = {{"x86_64_avx512", "attention_narrow_as_stored_f32_", GYRE_F32, 64, 64},
                             {"x86_64_avx512", "attention_narrow_as_stored_f16_", GYRE_F16, 1, 64},
                             {"x86_64_avx512_bf16", "attention_narrow_as_stored_bf16_", GYRE_BF16, 256, 1024}};

} // namespace

TEST_CASE(
    "narrow tiles: pairs of bf16 numbers are named where the sequence with the most queries takes another kernel") {
    const std::vector<std::string> targets = runnable_targets();
    if (std::find(targets.begin(), targets.end(), "x86_64_avx512_bf16") == targets.end()) return;
    const Context context("x86_64_avx512_bf16");
    // One query on 300 keys, whose four rows fill a narrow row tile, and two on 20, which are few scores.
    AttentionCase both(AttentionShape().lengths(3, 320).head_counts(4, 1).dims(64).of(GYRE_BF16).in(GYRE_THD));
    both.args.cu_seqlens_q = both.hold(GYRE_I32, {0, 1, 3});
    both.args.cu_seqlens_k = both.hold(GYRE_I32, {0, 300, 320});
    AttentionCase few = case_of(GYRE_BF16, 2, 20, 4, 64);
    REQUIRE_MESSAGE(few.run(context) == GYRE_OK, text(gyre_last_error()));
    CHECK(text(gyre_selected_kernel(context)).rfind("attention_decode_", 0) == 0);
    REQUIRE_MESSAGE(both.run(context) == GYRE_OK, text(gyre_last_error()));
    CHECK(text(gyre_selected_kernel(context)).rfind("attention_narrow_as_stored_bf16_", 0) == 0);
    both.check();
}

TEST_CASE("narrow tiles: which rows take them, and not with rotated keys or a cap") {
    const std::vector<std::string> targets = runnable_targets();
    const gyre_rope rope = gyre_rope_defaults();
    for (const Narrow &n : narrow) {
        if (std::find(targets.begin(), targets.end(), n.target) == targets.end()) continue;
        const Context context(n.target);
        const auto is_narrow = [&](AttentionCase &c) {
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            return text(gyre_selected_kernel(context)).rfind(n.family, 0) == 0;
        };
        for (const int64_t head_dim : {64, 128})
            for (const int64_t keys : {n.whole_from - 1, n.whole_from, n.three_from - 1, n.three_from})
                for (const int64_t rows : {2, 3, 4, 5}) {
                    if (keys == 0) continue;
                    AttentionCase c = case_of(n.type, 1, keys, rows, head_dim, 2);
                    const std::string description = c.describe();
                    CAPTURE(description);
                    CHECK(is_narrow(c) == ((rows == 3 && keys >= n.three_from) || (rows == 4 && keys >= n.whole_from)));
                    c.args.softcap = 3;
                    CHECK_FALSE(is_narrow(c));
                    c.args.softcap = 0;
                    c.args.rope = &rope;
                    CHECK_FALSE(is_narrow(c));
                }
        AttentionCase queries = case_of(n.type, 2, n.whole_from + 1, 2, 64);
        CHECK(is_narrow(queries));
        const int64_t keys = n.whole_from + 64;
        AttentionCase packed(AttentionShape().lengths(2, 2 * keys).head_counts(4, 1).dims(64).of(n.type).in(GYRE_THD));
        packed.args.cu_seqlens_q = packed.hold(GYRE_I32, {0, 1, 2});
        packed.args.cu_seqlens_k = packed.hold(GYRE_I32, {0, (double)keys, 2.0 * (double)keys});
        CHECK(is_narrow(packed));
    }
}

TEST_CASE("narrow tiles: keys around steps, blocks and parts, with windows, sinks and lse") {
    each_type_and_size([](gyre_dtype type, int64_t head_dim) {
        for (const int64_t keys : {1, 3, 5, 63, 65, 127, 129, 600, 1100, 2500})
            for (const int64_t heads : {2, 3, 4})
                for (const int64_t queries : {1, 2}) {
                    AttentionCase c = case_of(type, queries, keys, heads, head_dim, 2);
                    c.args.causal = 1;
                    c.check();
                    c.args.sinks = c.hold(GYRE_F32, std::vector<double>((size_t)(2 * heads), 1.5));
                    c.args.window_left = 21;
                    c.check();
                    c.args.lse = nullptr;
                    c.check();
                }
    });
}

TEST_CASE("narrow tiles: nothing is read past the last key") {
    each_type_and_size([](gyre_dtype type, int64_t head_dim) {
        for (const int64_t keys : {1, 5, 64, 130, 256, 321}) {
            AttentionCase c = case_of(type, 1, keys, 4, head_dim);
            check_at_end_of_memory(c);
        }
    });
}

TEST_CASE("narrow tiles: keys and values that a row does not see do not change its bits") {
    constexpr int64_t queries = 2, keys = 641, window = 300, first = keys - queries - window;
    each_type_and_size([](gyre_dtype type, int64_t head_dim) {
        AttentionCase c = case_of(type, queries, keys, 2, head_dim);
        c.args.causal = 1;
        c.args.window_left = window;
        check_garbage(c, in_causal_window(c), {first - 1, first, first + 2, keys - 1});
    });
}

TEST_CASE("narrow tiles: lengths of a cache, and threads") {
    each_type_and_size([](gyre_dtype type, int64_t head_dim) {
        AttentionCase c(AttentionShape().batches(4).lengths(1, 1100).head_counts(8, 2).dims(head_dim).of(type));
        c.args.causal = 1;
        c.args.seqused_k = c.hold(GYRE_I32, {1100, 65, 0, 1027});
        c.check();
        c.check_threads({1, 2, 5});
    });
}

TEST_CASE("narrow tiles: packed sequences, some of which have them, give the bits that each has alone") {
    for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16})
        for (const int64_t heads : {2, 3, 4})
            check_packed_and_alone(AttentionShape().head_counts(heads, 1).dims(64).of(type), {0, 1, 1, 5, 7},
                                   {0, 1300, 1400, 1500, 4000}, [](AttentionCase &c) { c.args.causal = 1; });
}
