/// gyre_attention() of few queries, with options or in 16 bits, and so many rows a key head, that kernels for many queries take them.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace gyre::test;

namespace {

bool ran_decoding(gyre_context *context) {
    return text(gyre_selected_kernel(context)).rfind("attention_decode_", 0) == 0;
}

/// The shape of a call that has two key heads.
AttentionShape shape_of(int64_t queries, int64_t group, int64_t keys, int64_t head_dim, gyre_dtype dtype) {
    return AttentionShape().lengths(queries, keys).head_counts(2 * group, 2).dims(head_dim).of(dtype);
}

bool decodes(const Context &context, AttentionCase &c) {
    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
    return ran_decoding(context);
}

bool decodes_capped(const Context &context, const AttentionShape &shape) {
    AttentionCase c(shape);
    c.args.softcap = 20;
    return decodes(context, c);
}

/// On AVX2 fewer keys of f32 are read where they are, by another kernel (key_columns_test.cpp).
int64_t keys_of_others(const std::string &target) { return target == "x86_64_avx2" ? 600 : 100; }

/// The targets whose vectors the limits were measured for.
std::vector<std::string> measured_targets() {
    std::vector<std::string> found;
    for (const std::string &target : runnable_targets())
        if (target == "x86_64_avx2" || target.rfind("x86_64_avx512", 0) == 0 || target == "x86_64_amx")
            found.push_back(target);
    return found;
}

} // namespace

TEST_CASE("whole rows: the fewest rows, whether queries or heads") {
    struct Least {
        gyre_dtype dtype;
        int64_t head_dim, rows;
    };
    for (const std::string &target : measured_targets()) {
        const Context context(target.c_str());
        const int64_t keys = keys_of_others(target);
        const int64_t padded = target == "x86_64_avx2" ? 12 : 14;
        for (const Least &least :
             {Least{GYRE_F32, 64, 14}, {GYRE_F32, 72, padded}, {GYRE_F32, 32, 8}, {GYRE_F16, 128, 14}})
            for (const int64_t rows : {least.rows - 1, least.rows}) {
                INFO(target, " ", rows, " rows of ", least.head_dim);
                const bool few = rows < least.rows;
                CHECK(decodes_capped(context, shape_of(rows, 1, keys, least.head_dim, least.dtype)) == few);
                CHECK(decodes_capped(context, shape_of(1, rows, keys, least.head_dim, least.dtype)) == few);
            }
        CHECK(decodes_capped(context, shape_of(9, 3, keys, 128, GYRE_F32)));
        CHECK_FALSE(decodes_capped(context, shape_of(14, 2, keys, 128, GYRE_F32)));
    }
}

TEST_CASE("whole rows: the fewest without options, which 16 bits alone have") {
    struct Least {
        const char *target;
        gyre_dtype dtype;
        int64_t head_dim, keys, rows;
    };
    const std::vector<std::string> targets = runnable_targets();
    for (const Least &least : {Least{"x86_64_avx2", GYRE_F16, 64, 100, 9},
                               {"x86_64_avx2", GYRE_BF16, 80, 100, 9},
                               {"x86_64_avx512", GYRE_F16, 80, 100, 12},
                               {"x86_64_avx512", GYRE_BF16, 80, 100, 12},
                               {"x86_64_avx512_bf16", GYRE_BF16, 80, 512, 10},
                               {"x86_64_avx512_bf16", GYRE_BF16, 80, 513, 12},
                               {"x86_64_avx512_bf16", GYRE_BF16, 56, 513, 9},
                               {"x86_64_avx512", GYRE_F16, 64, 64, 14},
                               {"x86_64_avx512_bf16", GYRE_BF16, 64, 64, 14},
                               {"x86_64_avx512_bf16", GYRE_BF16, 128, 65, 28}}) {
        if (std::find(targets.begin(), targets.end(), least.target) == targets.end()) continue;
        const Context context(least.target);
        for (const int64_t rows : {least.rows - 1, least.rows}) {
            INFO(least.target, " ", rows, " rows of ", least.head_dim);
            AttentionCase c(shape_of(1, rows, least.keys, least.head_dim, least.dtype));
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            CHECK((text(gyre_selected_kernel(context)).rfind("attention_plain_", 0) == 0) == (rows == least.rows));
            c.check();
        }
    }
}

TEST_CASE("whole rows: many keys are cut into parts where tasks are few, however many sequences there are") {
    for (const std::string &target : measured_targets()) {
        const Context context(target.c_str());
        struct Most {
            int64_t key_heads, queries, group, keys;
        };
        // 256 rows of 16 heads are six tasks of a key head, in row tiles of 24 and of 48; one task of 28 rows takes half of the time that keys along
        // vectors do.
        for (const Most &most :
             {Most{1, 4, 4, 511}, {2, 4, 4, 1024}, {8, 4, 4, 2048}, {1, 16, 16, 6144}, {1, 1, 28, 1024}})
            for (const int64_t keys : {most.keys, most.keys + 1}) {
                if (target == "x86_64_amx" && most.queries != 4) continue; // f32 has no such tiles
                INFO(target, " ", keys, " keys of ", most.key_heads, " heads");
                const AttentionShape shape = AttentionShape()
                                                 .batches(2)
                                                 .lengths(most.queries, keys)
                                                 .head_counts(most.group * most.key_heads, most.key_heads)
                                                 .dims(64)
                                                 .of(target == "x86_64_amx" ? GYRE_F32 : GYRE_F16);
                CHECK(decodes_capped(context, shape) == (keys > most.keys));
            }
    }
}

TEST_CASE("whole rows: numbers of rows around vectors, at head sizes without kernels of their own, on AVX2") {
    const std::vector<std::string> targets = runnable_targets();
    if (std::find(targets.begin(), targets.end(), "x86_64_avx2") == targets.end()) return;
    const Context context("x86_64_avx2");
    struct Rows {
        gyre_dtype dtype;
        int64_t head_dim, rows;
        bool few;
    };
    for (const Rows &r : {Rows{GYRE_BF16, 72, 6, true},
                          {GYRE_BF16, 72, 7, false},
                          {GYRE_BF16, 72, 10, false},
                          {GYRE_F16, 72, 7, true},
                          {GYRE_F16, 72, 8, false},
                          {GYRE_F16, 72, 9, true},
                          {GYRE_F16, 72, 12, false},
                          {GYRE_F32, 32, 8, false},
                          {GYRE_F32, 32, 11, true},
                          {GYRE_F32, 32, 12, false},
                          {GYRE_F32, 40, 7, true},
                          {GYRE_F32, 40, 8, false},
                          {GYRE_F32, 40, 11, true},
                          {GYRE_F32, 120, 12, false},
                          {GYRE_F32, 160, 8, true},
                          {GYRE_F32, 160, 13, true},
                          {GYRE_F32, 160, 14, false}}) {
        INFO(static_cast<int>(r.dtype), " ", r.rows, " rows of ", r.head_dim);
        AttentionCase c(shape_of(r.rows, 1, keys_of_others("x86_64_avx2"), r.head_dim, r.dtype));
        c.args.softcap = 20;
        CHECK(decodes(context, c) == r.few);
        c.check();
    }
    const int64_t most_keys = 400 * 1024 / (2 * 72); // of two heads, which come from the caches
    for (const int64_t keys : {most_keys, most_keys + 1}) {
        CHECK(decodes_capped(context, shape_of(8, 1, keys, 72, GYRE_F32)) == (keys > most_keys));
        CHECK_FALSE(decodes_capped(context, shape_of(14, 1, keys, 72, GYRE_F32)));
    }
}

TEST_CASE("whole rows: heads that have masks of their own are not rows of one tile") {
    for (const std::string &target : measured_targets()) {
        INFO(target);
        const Context context(target.c_str());
        for (const bool of_heads : {false, true}) {
            AttentionCase c(AttentionShape().lengths(4, 100).head_counts(8, 2).dims(64));
            Tensor mask(GYRE_BOOL, {1, of_heads ? 8 : 1, 4, 100});
            std::vector<double> seen;
            for (int64_t i = 0; i < mask.count(); i++) seen.push_back(i % 3 != 0);
            mask.set_values(seen);
            c.args.mask = c.hold(std::move(mask));
            CHECK(decodes(context, c) == of_heads); // else 16 rows
            c.check();
        }
    }
}

TEST_CASE("few rows: which of them kernels with keys along vectors take at head sizes without kernels of their own, on "
          "AVX-512") {
    const std::vector<std::string> targets = runnable_targets();
    if (std::find(targets.begin(), targets.end(), "x86_64_avx512") == targets.end()) return;
    const Context context("x86_64_avx512");
    struct Rows {
        gyre_dtype dtype;
        int64_t head_dim, rows, keys;
        bool few;
    };
    for (const Rows &r : {Rows{GYRE_F32, 32, 8, 200, false},
                          {GYRE_F32, 40, 8, 63, true},
                          {GYRE_F32, 40, 16, 200, false},
                          {GYRE_F32, 40, 9, 127, true},
                          {GYRE_F32, 40, 16, 128, false},
                          {GYRE_F32, 80, 16, 512, false},
                          {GYRE_F32, 80, 10, 513, true},
                          {GYRE_F16, 80, 5, 200, true},
                          {GYRE_F16, 80, 8, 4096, false},
                          {GYRE_BF16, 80, 11, 127, true},
                          {GYRE_BF16, 80, 12, 600, false},
                          {GYRE_BF16, 80, 13, 600, false},
                          {GYRE_BF16, 32, 5, 200, false}}) {
        INFO(static_cast<int>(r.dtype), " ", r.rows, " rows of ", r.head_dim, ", ", r.keys, " keys");
        AttentionCase c(AttentionShape().lengths(1, r.keys).head_counts(r.rows, 1).dims(r.head_dim).of(r.dtype));
        CHECK(decodes(context, c) == r.few);
        c.check();
    }
}

TEST_CASE("whole rows: f32 with options takes them whatever the number of keys") {
    for (const std::string &target : measured_targets()) {
        if (target == "x86_64_amx") continue;
        INFO(target);
        const Context context(target.c_str());
        CHECK_FALSE(decodes_capped(context, shape_of(16, 1, 3000, 64, GYRE_F32)));
        CHECK_FALSE(decodes_capped(context, shape_of(4, 8, 3000, 72, GYRE_F32)));
        CHECK(decodes_capped(context, shape_of(4, 2, 3000, 64, GYRE_F32)));
    }
}
