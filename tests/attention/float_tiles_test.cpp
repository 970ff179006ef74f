/// gyre_attention() of few queries in f32 whose rows a key head fill no row tile: by how many there are and how many keys they see, row tiles
/// that stay partly empty take them, or keys along the lanes.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/packed_sequences.h"

#include <algorithm>

using namespace gyre::test;

namespace {

AttentionCase case_of(int64_t rows, int64_t keys, int64_t head_dim) {
    return AttentionCase(AttentionShape().lengths(1, keys).head_counts(2 * rows, 2).dims(head_dim).of(GYRE_F32));
}

struct Limit {
    const char *target;
    int64_t head_dim, rows, keys; // the fewest
};
constexpr Limit limits[] = {
    {"x86_64_avx512", 64, 6, 64},    {"x86_64_avx512", 128, 6, 64},  {"x86_64_avx512", 64, 5, 256},
    {"x86_64_avx512", 128, 5, 256},  {"x86_64_avx512", 64, 10, 256}, {"x86_64_avx512", 128, 10, 256},
    {"x86_64_avx512", 128, 11, 256}, {"x86_64_avx512", 64, 12, 256}, {"x86_64_avx512", 256, 2, 64},
    {"x86_64_avx512", 64, 7, 1},     {"x86_64_avx2", 64, 7, 1},      {"x86_64_avx2", 128, 7, 1},
    {"x86_64_avx2", 128, 15, 1}};

constexpr Limit never[] = {{"x86_64_avx512", 64, 9, 3000},  {"x86_64_avx512", 128, 9, 3000},
                           {"x86_64_avx512", 128, 2, 3000}, {"x86_64_avx2", 64, 6, 3000},
                           {"x86_64_avx2", 128, 14, 3000},  {"x86_64_avx2", 256, 2, 3000}};

bool runs(const Limit &limit) {
    const std::vector<std::string> targets = runnable_targets();
    return std::find(targets.begin(), targets.end(), limit.target) != targets.end();
}

bool takes_tiles(const Limit &limit, int64_t keys) {
    const Context context(limit.target);
    AttentionCase c = case_of(limit.rows, keys, limit.head_dim);
    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
    return text(gyre_selected_kernel(context)).rfind("attention_split_as_stored_f32_", 0) == 0;
}

} // namespace

TEST_CASE("f32 tiles: which rows that fill none take them") {
    for (const Limit &limit : limits) {
        if (!runs(limit)) continue;
        INFO(limit.target, ": ", limit.rows, " rows of ", limit.head_dim);
        CHECK(takes_tiles(limit, limit.keys));
        if (limit.keys > 1) CHECK_FALSE(takes_tiles(limit, limit.keys - 1));
    }
    for (const Limit &limit : never) {
        if (!runs(limit)) continue;
        INFO(limit.target, ": ", limit.rows, " rows of ", limit.head_dim);
        CHECK_FALSE(takes_tiles(limit, limit.keys));
    }
}

TEST_CASE("f32 tiles: keys around blocks and parts, with windows, sinks and lse") {
    for (const int64_t head_dim : {64, 128})
        for (const int64_t rows : {5, 6, 7, 10, 12, 15})
            for (const int64_t keys : {1, 63, 65, 257, 1100}) {
                AttentionCase c = case_of(rows, keys, head_dim);
                c.check();
                c.args.causal = 1;
                c.args.window_left = 70;
                c.args.sinks = c.hold(GYRE_F32, std::vector<double>((size_t)(2 * rows), 1.5));
                c.check();
            }
}

TEST_CASE("f32 tiles: packed sequences, some of which have them, give the bits that each has alone") {
    for (const int64_t heads : {2, 5, 6})
        check_packed_and_alone(AttentionShape().head_counts(heads, 1).dims(64).of(GYRE_F32), {0, 1, 2, 4, 5},
                               {0, 255, 511, 1200, 1260}, [](AttentionCase &c) { c.args.causal = 1; });
}
