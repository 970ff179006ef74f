/// gyre_attention() of few queries in f16 whose rows a key head are more than a narrow row tile has: on AVX-512 and head size 64 a kernel takes them that
/// transposes steps of 32 keys, of which the second 16 are multiplied where some row sees one.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/guarded_keys.h"
#include "support/masked_garbage.h"
#include "support/packed_sequences.h"

#include <algorithm>

using namespace gyre::test;

namespace {

AttentionCase case_of(int64_t queries, int64_t keys, int64_t heads) {
    return AttentionCase(AttentionShape().lengths(queries, keys).head_counts(2 * heads, 2).dims(64).of(GYRE_F16));
}

} // namespace

TEST_CASE("transposed keys: rows that take them") {
    const std::vector<std::string> targets = runnable_targets();
    if (std::find(targets.begin(), targets.end(), "x86_64_avx512") == targets.end()) return;
    const Context context("x86_64_avx512");
    for (const int64_t heads : {5, 6, 7, 8})
        for (const int64_t keys : {128 / heads, 128 / heads + 1}) {
            AttentionCase c = case_of(1, keys, heads);
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const bool transposes =
                text(gyre_selected_kernel(context)).rfind("attention_split_as_stored_f16_d64__", 0) == 0;
            CHECK(transposes == (heads * keys > 128));
        }
}

TEST_CASE("transposed keys: keys around halves of steps, steps, blocks and parts, with windows, sinks and lse") {
    for (const int64_t keys : {1, 15, 16, 17, 31, 32, 33, 48, 49, 64, 127, 128, 129, 145, 161, 300, 1100, 2500})
        for (const int64_t heads : {3, 5, 7, 8})
            for (const int64_t queries : {1, 2}) {
                AttentionCase c = case_of(queries, keys, heads);
                c.args.causal = 1;
                c.check();
                c.args.sinks = c.hold(GYRE_F32, std::vector<double>((size_t)(2 * heads), 1.5));
                for (const int64_t window : {14, 15, 16, 31, 37}) {
                    c.args.window_left = window;
                    c.check();
                }
                c.args.lse = nullptr;
                c.check();
            }
}

TEST_CASE("transposed keys: nothing is read past the last key") {
    for (const int64_t keys : {1, 15, 17, 33, 64, 130, 256, 321}) {
        AttentionCase c = case_of(1, keys, 8);
        check_at_end_of_memory(c);
    }
}

TEST_CASE("transposed keys: keys and values that a row does not see do not change its bits") {
    constexpr int64_t queries = 2, keys = 641, window = 300, first = keys - queries - window;
    AttentionCase c = case_of(queries, keys, 4);
    c.args.causal = 1;
    c.args.window_left = window;
    check_garbage(c, in_causal_window(c), {first - 1, first, first + 2, keys - 1});
}

TEST_CASE("transposed keys: lengths of a cache, and threads") {
    AttentionCase c(AttentionShape().batches(4).lengths(1, 1100).head_counts(16, 2).dims(64).of(GYRE_F16));
    c.args.causal = 1;
    c.args.seqused_k = c.hold(GYRE_I32, {1100, 65, 0, 1027});
    c.check();
    c.check_threads({1, 2, 5});
}

TEST_CASE("transposed keys: packed sequences, some of which have them, give the bits that each has alone") {
    for (const int64_t heads : {3, 4, 8})
        check_packed_and_alone(AttentionShape().head_counts(heads, 1).dims(64).of(GYRE_F16), {0, 1, 1, 5, 7},
                               {0, 1300, 1400, 1417, 4000}, [](AttentionCase &c) { c.args.causal = 1; });
}
