/// gyre_attention() of few queries: which numbers of rows a key head take kernels with vectors of keys, and which those with row tiles.
#include "support/attention_case.h"
#include "support/each_kernel.h"

#include <algorithm>

using namespace gyre::test;

TEST_CASE("how many rows of a key head take kernels with vectors of keys") {
    struct Most {
        const char *target;
        gyre_dtype dtype;
        int64_t head_dim, rows, keys = 20;
    };
    const Most most[] = {{"x86_64_avx512", GYRE_F32, 64, 12},     {"x86_64_avx512", GYRE_F32, 64, 12, 129},
                         {"x86_64_avx512", GYRE_F32, 128, 12},    {"x86_64_avx512", GYRE_F16, 128, 3, 63},
                         {"x86_64_avx512", GYRE_F16, 128, 2, 64}, {"x86_64_avx512", GYRE_F16, 64, 3, 63},
                         {"x86_64_avx512", GYRE_F16, 64, 2, 64},  {"x86_64_avx2", GYRE_F32, 64, 6},
                         {"x86_64_avx2", GYRE_F32, 128, 14},      {"x86_64_avx2", GYRE_BF16, 64, 4},
                         {"x86_64_generic", GYRE_F32, 64, 4},     {"x86_64_amx", GYRE_BF16, 128, 4, 127},
                         {"x86_64_amx", GYRE_BF16, 128, 3, 128},  {"x86_64_amx", GYRE_BF16, 80, 4, 127},
                         {"x86_64_amx", GYRE_BF16, 80, 3, 128}};
    const std::vector<std::string> runnable = runnable_targets();
    for (const Most &m : most) {
        if (std::find(runnable.begin(), runnable.end(), m.target) == runnable.end()) continue;
        INFO(m.target, ", ", m.keys, " keys of ", m.head_dim);
        const Context context(m.target);
        for (const int64_t rows : {m.rows, m.rows + 1}) {
            CAPTURE(rows);
            AttentionCase c(AttentionShape().lengths(1, m.keys).head_counts(rows, 1).dims(m.head_dim).of(m.dtype));
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const bool is_few = text(gyre_selected_kernel(context)).rfind("attention_decode_", 0) == 0;
            CHECK(is_few == (rows == m.rows));
        }
    }
}

TEST_CASE("row tiles of f32 that are whole or lack a row take kernels with row tiles, however few keys a window shows, "
          "and those that lack two do on AVX-512 where they see 64 keys") {
    const std::vector<std::string> runnable = runnable_targets();
    for (const char *target : {"x86_64_avx512", "x86_64_avx2"}) {
        if (std::find(runnable.begin(), runnable.end(), target) == runnable.end()) continue;
        const Context context(target);
        for (const int64_t rows : {6, 7, 8})
            for (const int64_t seen : {20, 128, 129}) {
                INFO(target, ", ", rows, " rows, ", seen, " keys");
                AttentionCase c(AttentionShape().lengths(1, 300).head_counts(2 * rows, 2).dims(64));
                c.args.causal = 1;
                c.args.window_left = seen - 1;
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const bool is_few = text(gyre_selected_kernel(context)).rfind("attention_decode_", 0) == 0;
                const bool gains_by_tiles = rows >= 7 || (text(target) == "x86_64_avx512" && seen >= 64);
                CHECK(is_few == !gains_by_tiles);
            }
    }
}
