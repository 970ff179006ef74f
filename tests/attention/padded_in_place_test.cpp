/// gyre_attention() of few queries whose head size has no kernels of its own: on AVX2 and AVX-512, padded kernels read keys and values in place where
/// their rows and keys are enough.
#include "support/attention_case.h"
#include "support/each_kernel.h"
#include "support/guarded_keys.h"
#include "support/masked_garbage.h"
#include "support/packed_sequences.h"
#include "support/paged_case.h"

#include <algorithm>

using namespace gyre::test;

namespace {

const gyre_dtype types[] = {GYRE_F32, GYRE_F16, GYRE_BF16};

struct Dims {
    int64_t keys, values;
};
constexpr Dims sizes[] = {{40, 40}, {96, 96}, {100, 37}, {176, 176}};

AttentionCase case_of(gyre_dtype type, int64_t queries, int64_t keys, int64_t heads, const Dims &dims,
                      int64_t key_heads = 1) {
    return AttentionCase(AttentionShape()
                             .lengths(queries, keys)
                             .head_counts(heads * key_heads, key_heads)
                             .dims(dims.keys, dims.values)
                             .of(type));
}

} // namespace

TEST_CASE("padded rows in place: which rows take them, from so many keys on, and not with rotated keys or a cap") {
    struct First {
        const char *target;
        gyre_dtype type;
        int64_t head_dim, rows, keys;
        const char *family;
    };
    const First first[] = {{"x86_64_avx512", GYRE_F16, 80, 3, 128, "attention_narrow_as_stored_f16_"},
                           {"x86_64_avx512", GYRE_F16, 80, 4, 64, "attention_narrow_as_stored_f16_"},
                           {"x86_64_avx512", GYRE_BF16, 160, 5, 256, "attention_split_as_stored_bf16_"},
                           {"x86_64_avx512", GYRE_F16, 96, 10, 128, "attention_narrow_as_stored_f16_"},
                           {"x86_64_avx512", GYRE_F32, 96, 3, 4096, "attention_narrow_as_stored_f32_"},
                           {"x86_64_avx512", GYRE_F32, 96, 4, 64, "attention_narrow_as_stored_f32_"},
                           {"x86_64_avx512", GYRE_F32, 96, 8, 64, "attention_split_as_stored_f32_"},
                           {"x86_64_avx512", GYRE_F32, 160, 17, 4096, "attention_split_as_stored_f32_"},
                           {"x86_64_avx2", GYRE_F16, 80, 3, 64, "attention_narrow_as_stored_f16_"},
                           {"x86_64_avx2", GYRE_BF16, 120, 8, 128, "attention_narrow_as_stored_bf16_"},
                           {"x86_64_avx2", GYRE_F32, 160, 12, 128, "attention_narrow_as_stored_f32_"}};
    const std::vector<std::string> runnable = runnable_targets();
    const gyre_rope rope = gyre_rope_defaults();
    for (const First &f : first) {
        if (std::find(runnable.begin(), runnable.end(), f.target) == runnable.end()) continue;
        const Context context(f.target);
        for (const int64_t keys : {f.keys - 1, f.keys}) {
            INFO(f.target, ", ", f.rows, " rows, ", keys, " keys of ", f.head_dim);
            AttentionCase c = case_of(f.type, 1, keys, f.rows, {f.head_dim, f.head_dim}, 2);
            const auto is_in_place = [&] {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                return text(gyre_selected_kernel(context)).rfind(f.family, 0) == 0;
            };
            CHECK(is_in_place() == (keys == f.keys));
            c.args.softcap = 3;
            CHECK_FALSE(is_in_place());
            c.args.softcap = 0;
            c.args.rope = &rope;
            CHECK_FALSE(is_in_place());
        }
    }
}

TEST_CASE("padded rows in place: keys around steps, blocks and parts, with windows, sinks and lse") {
    for (const gyre_dtype type : types)
        for (const Dims &dims : sizes)
            for (const int64_t keys : {257, 384, 643, 2500})
                for (const int64_t heads : {2, 4, 6})
                    for (const int64_t queries : {1, 2}) {
                        AttentionCase c = case_of(type, queries, keys, heads, dims, 2);
                        c.args.causal = 1;
                        c.check();
                        c.args.sinks = c.hold(GYRE_F32, std::vector<double>((size_t)(2 * heads), 1.5));
                        c.args.window_left = 261;
                        c.args.lse = nullptr;
                        c.check();
                    }
}

TEST_CASE("padded rows in place: more rows than tiles have") {
    for (const gyre_dtype type : types)
        for (const int64_t rows : {9, 11, 13, 16, 19, 21})
            for (const int64_t keys : {600, 4200}) case_of(type, 1, keys, rows, {104, 104}).check();
}

TEST_CASE("padded rows in place: nothing is read past the last key") {
    for (const gyre_dtype type : types)
        for (const Dims &dims : sizes)
            for (const int64_t keys : {128, 256, 321, 5000})
                for (const int64_t rows : {4, 8}) {
                    AttentionCase c = case_of(type, 1, keys, rows, dims);
                    check_at_end_of_memory(c);
                }
}

TEST_CASE("padded rows in place: what lies between the rows of keys and values does not matter") {
    for (const gyre_dtype type : types)
        for (const Dims &dims : sizes)
            for (const int64_t rows : {4, 8})
                for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD})
                    AttentionCase(AttentionShape()
                                      .lengths(1, 300)
                                      .head_counts(2 * rows, 2)
                                      .dims(dims.keys, dims.values)
                                      .of(type)
                                      .in(layout, Placement::with_gaps(7)))
                        .check();
}

TEST_CASE("padded rows in place: keys and values that a row does not see do not change its bits") {
    constexpr int64_t queries = 2, keys = 641, window = 300, first = keys - queries - window;
    for (const gyre_dtype type : types)
        for (const int64_t heads : {2, 4}) {
            AttentionCase c = case_of(type, queries, keys, heads, {88, 88});
            c.args.causal = 1;
            c.args.window_left = window;
            check_garbage(c, in_causal_window(c), {first - 1, first, first + 2, keys - 1});
        }
}

TEST_CASE("padded rows in place: pages, lengths of a cache, and threads") {
    for (const gyre_dtype type : types)
        for (const int64_t heads : {4, 8}) {
            const AttentionShape shape =
                AttentionShape().batches(4).lengths(1, 1100).head_counts(2 * heads, 2).dims(112).of(type);
            AttentionCase c(shape);
            c.args.causal = 1;
            c.args.seqused_k = c.hold(GYRE_I32, {1100, 65, 0, 1027});
            c.check();
            c.check_threads({1, 2, 5});
            PagedCase paged(shape, 16, {1100, 65, 0, 1027});
            paged.plain.args.causal = 1;
            paged.check();
        }
}

TEST_CASE("padded rows in place: packed sequences, some of which have them, give the bits that each has alone") {
    for (const gyre_dtype type : types)
        for (const int64_t heads : {2, 4})
            check_packed_and_alone(AttentionShape().head_counts(heads, 1).dims(80).of(type), {0, 1, 1, 4, 6},
                                   {0, 1300, 1400, 1500, 6000}, [](AttentionCase &c) { c.args.causal = 1; });
}
