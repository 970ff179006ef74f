/// gyre_attention() in f32 of rows that leave the vectors of other kernels almost empty: on AVX-512 a kernel takes them whose keys are transposed, and
/// whose rows are scalars. On AVX2 another takes rows with options, whose keys are read where they are.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/decode_options.h"
#include "support/each_kernel.h"
#include "support/guarded_keys.h"
#include "support/masked_garbage.h"
#include "support/packed_sequences.h"

#include <algorithm>

using namespace gyre::test;

namespace {

constexpr int alibi = 4; // of give_options()

AttentionShape shape_of(int64_t queries, int64_t keys, int64_t head_dim, int64_t group = 1) {
    return AttentionShape().lengths(queries, keys).head_counts(2 * group, 2).dims(head_dim);
}

bool has_target(const char *target = "x86_64_avx512") {
    const std::vector<std::string> targets = runnable_targets();
    return std::find(targets.begin(), targets.end(), target) != targets.end();
}

bool takes(AttentionCase &c) {
    const Context context("x86_64_avx512");
    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
    return text(gyre_selected_kernel(context)).rfind("attention_key_columns_f32", 0) == 0;
}

bool takes(const AttentionShape &shape, int options = 0) {
    AttentionCase c(shape);
    give_options(c, options);
    return takes(c);
}

/// A mask by which every row sees another choice of keys, and the second none.
Tensor scattered(int64_t queries, int64_t keys) {
    Tensor mask(GYRE_BOOL, {1, 1, queries, keys});
    for (int64_t i = 0; i < queries; i++)
        for (int64_t j = 0; j < keys; j++) mask.set({0, 0, i, j}, i != 1 && (i * 7 + j * 3) % 5 < 3);
    return mask;
}

} // namespace

TEST_CASE("key columns: which rows they are") {
    if (!has_target()) return;
    struct Rows {
        int64_t first, last, head_dim;
        int options;
    };
    for (const Rows &r : {Rows{10, 12, 64, 0},
                          {10, 12, 72, 0},
                          {8, 8, 64, alibi},
                          {10, 12, 128, alibi},
                          {17, 24, 40, alibi},
                          {33, 36, 48, alibi},
                          {33, 40, 64, alibi},
                          {49, 52, 200, alibi}})
        for (const int64_t rows : {r.first - 1, r.first, r.last, r.last + 1}) {
            INFO(rows, " rows of ", r.head_dim);
            CHECK(takes(shape_of(rows, 100, r.head_dim), r.options) == (rows >= r.first && rows <= r.last));
        }
    CHECK_FALSE(takes(shape_of(50, 100, 48), alibi));
    CHECK(takes(shape_of(3, 100, 64, 4)));
    CHECK(takes(shape_of(1, 100, 80, 12)));
    CHECK_FALSE(takes(shape_of(12, 100, 8)));
    CHECK_FALSE(takes(shape_of(12, 100, 64).of(GYRE_F16)));
    CHECK(takes(shape_of(12, 100, 64).keys_of(GYRE_F16)));
}

TEST_CASE("key columns: on how many keys") {
    if (!has_target()) return;
    for (const int64_t rows : {8, 12}) {
        CHECK_FALSE(takes(shape_of(rows, 47, 64), alibi));
        CHECK(takes(shape_of(rows, 48, 64), alibi));
        CHECK(takes(shape_of(rows, 128, 64), alibi));
        CHECK_FALSE(takes(shape_of(rows, 129, 64), alibi));
    }
    CHECK_FALSE(takes(shape_of(20, 31, 64), alibi));
    CHECK(takes(shape_of(20, 32, 64), alibi));
    CHECK(takes(shape_of(20, 1024, 64), alibi));
    CHECK_FALSE(takes(shape_of(20, 1025, 64), alibi));
    CHECK(takes(shape_of(50, 512, 64), alibi));
    CHECK_FALSE(takes(shape_of(50, 513, 64), alibi));
    CHECK(takes(shape_of(5, 511, 64, 4), alibi));
    CHECK_FALSE(takes(shape_of(5, 512, 64, 4), alibi));
}

TEST_CASE("options in place: which rows and keys they are on AVX2") {
    if (!has_target("x86_64_avx2")) return;
    const auto takes_in_place = [](const AttentionShape &shape, int options = alibi) {
        const Context context("x86_64_avx2");
        AttentionCase c(shape);
        give_options(c, options);
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        return text(gyre_selected_kernel(context)).rfind("attention_options_as_stored_f32", 0) == 0;
    };
    for (const int64_t rows : {7, 8, 9, 10, 11, 16, 17, 48, 49, 96, 97}) {
        CAPTURE(rows);
        CHECK(takes_in_place(shape_of(rows, 20, 64)) == (rows >= 11 && rows <= 96));
        CHECK_FALSE(takes_in_place(shape_of(rows, 20, 64), 0));
    }
    CHECK(takes_in_place(shape_of(5, 511, 96, 4)));
    CHECK_FALSE(takes_in_place(shape_of(5, 512, 96, 4)));
    CHECK(takes_in_place(shape_of(20, 1024, 96)));
    CHECK_FALSE(takes_in_place(shape_of(20, 1025, 96)));
    CHECK(takes_in_place(shape_of(48, 1024, 96)));
    CHECK(takes_in_place(shape_of(49, 128, 96))); // more rows than two row tiles have: on a block of keys
    CHECK_FALSE(takes_in_place(shape_of(49, 129, 96)));
    CHECK_FALSE(takes_in_place(shape_of(49, 128, 104)));
    CHECK(takes_in_place(shape_of(20, 576, 128))); // 2 key heads
    CHECK(takes_in_place(AttentionShape().lengths(16, 288).head_counts(8, 8).dims(64)));
    CHECK_FALSE(takes_in_place(AttentionShape().lengths(16, 289).head_counts(8, 8).dims(64)));
    CHECK_FALSE(takes_in_place(shape_of(20, 577, 128)));
    CHECK(takes_in_place(shape_of(20, 100, 64).keys_of(GYRE_F16)));
    CHECK_FALSE(takes_in_place(shape_of(20, 100, 64).of(GYRE_F16)));
}

TEST_CASE("general in place: heads with masks of their own count by their queries, as tasks of one head have them") {
    struct Own {
        int64_t queries, group;
        bool on_avx512, on_avx2;
    };
    for (const Own &own : {Own{20, 1, true, true},
                           {20, 4, true, true},  // 80 rows a key head, in tasks of 20
                           {26, 2, false, true}, // 52, in tasks of 26
                           {5, 4, false, false}, // few queries may be decoded with all heads in a task
                           {12, 2, true, true},
                           {50, 1, true, true},
                           {97, 1, false, false}})
        for (const std::string target : {"x86_64_avx512", "x86_64_avx2"}) {
            if (!has_target(target.c_str())) continue;
            AttentionCase c(shape_of(own.queries, 100, 64, own.group));
            c.args.mask = scattered_mask(c, 0.7, {1, c.shape.heads, own.queries, 100});
            const Context context(target.c_str());
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const bool on_avx512 = target == "x86_64_avx512";
            const std::string family = on_avx512 ? "attention_key_columns_f32" : "attention_options_as_stored_f32";
            CAPTURE(target);
            CAPTURE(own.queries);
            CHECK((text(gyre_selected_kernel(context)).rfind(family, 0) == 0) ==
                  (on_avx512 ? own.on_avx512 : own.on_avx2));
            c.check();
            if (own.queries > 12) continue; // a sequence of a call with lengths has the bits that it has alone
            AttentionCase lengths(shape_of(own.queries, 100, 64, own.group));
            lengths.args.mask = scattered_mask(lengths, 0.7, {1, lengths.shape.heads, own.queries, 100});
            lengths.args.seqused_k = lengths.hold(GYRE_I32, {100});
            lengths.check();
        }
}

TEST_CASE("key columns: rotated keys, and sinks are for others") {
    if (!has_target()) return;
    AttentionCase rotated(shape_of(20, 100, 64)), sinks(shape_of(20, 100, 64)), few(shape_of(12, 100, 64));
    const gyre_rope rope = gyre_rope_defaults();
    for (AttentionCase *c : {&rotated, &sinks, &few}) give_options(*c, alibi);
    rotated.args.rope = &rope;
    CHECK_FALSE(takes(rotated));
    sinks.args.sinks = sinks.hold(GYRE_F32, {1.5, -1});
    CHECK_FALSE(takes(sinks));
    few.args.sinks = few.hold(GYRE_F32, {1.5, -1});
    CHECK_FALSE(takes(few));
    few.check();
}

TEST_CASE("general in place: with sinks and options, a call with lengths has the bits of one without") {
    for (const std::string &target : runnable_targets())
        for (const int64_t queries : {3, 7, 12, 20}) {
            AttentionCase alone(shape_of(queries, 74, 64, 4)), lengths(shape_of(queries, 74, 64, 4));
            for (AttentionCase *c : {&alone, &lengths}) {
                give_options(*c, alibi);
                c->args.sinks = c->hold(GYRE_F32, std::vector<double>(static_cast<size_t>(c->shape.heads), 0.5));
            }
            lengths.args.seqused_k = lengths.hold(GYRE_I32, {74});
            const Context context(target.c_str());
            for (AttentionCase *c : {&alone, &lengths})
                REQUIRE_MESSAGE(c->run(context) == GYRE_OK, text(gyre_last_error()));
            CAPTURE(target);
            CAPTURE(queries);
            CHECK(alone.out.bits() == lengths.out.bits());
        }
}

TEST_CASE("key columns: counts of rows and keys around tiles, vectors and blocks, with options") {
    for (const int64_t head_dim : {16, 20, 64, 72, 128, 200, 512})
        for (const int64_t rows : {8, 10, 12, 17, 21, 24, 33, 50})
            for (const int64_t keys : {33, 48, 63, 64, 65, 128, 129, 161, 270}) {
                if (head_dim > 128 && keys > 65 && keys < 270) continue;
                AttentionCase c(shape_of(rows, keys, head_dim));
                give_options(c, alibi);
                c.args.causal = keys % 2;
                c.check();
            }
    for (const int options : {1, 2, 8, 3, 12, 31})
        for (const int64_t rows : {8, 11, 12, 19, 36}) {
            AttentionCase c(shape_of(rows, 150, options == 3 ? 72 : 64));
            give_options(c, options);
            c.args.lse = options == 8 ? nullptr : c.args.lse;
            c.check();
        }
}

TEST_CASE("key columns: heads that share keys, values of another size, windows, and rows that see nothing") {
    for (const int64_t queries : {3, 5, 9})
        for (const int64_t window : {-1, 0, 20, 70}) {
            AttentionCase c(AttentionShape().batches(2).lengths(queries, 140).head_counts(8, 2).dims(72, 40));
            c.args.causal = 1;
            c.args.window_left = window;
            give_options(c, alibi);
            c.check();
        }
    for (const int64_t rows : {8, 12, 20, 34}) {
        AttentionCase c(shape_of(rows, 300, 64));
        c.args.mask = c.hold(scattered(rows, 300));
        c.check();
        AttentionCase early(shape_of(rows, 300, 80)); // whole row tiles of which no row sees a key
        give_options(early, alibi);
        early.args.causal = 1;
        early.args.seqused_k = early.hold(GYRE_I32, {(double)(rows > 12 ? 3 : 100)});
        early.check();
    }
}

TEST_CASE("key columns: threads, and results in the queries' memory") {
    for (const int64_t rows : {20, 36, 50}) { // which several threads share
        AttentionCase c(AttentionShape().batches(2).lengths(rows, 300).head_counts(1, 1).dims(96));
        give_options(c, alibi);
        c.args.causal = 1;
        c.check_threads({1, 2, 5, 16});
        c.args.seqused_k = c.hold(GYRE_I32, {300, 290});
        c.check();
        c.check_threads({1, 3, 16});
    }
    AttentionCase few(AttentionShape().batches(3).lengths(3, 120).head_counts(8, 2).dims(64)); // 12 rows
    few.check_threads({1, 2, 5});
    few.check_in_place();
}

TEST_CASE("key columns: nothing is read past the last key, and what a row does not see does not change its bits") {
    for (const int64_t head_dim : {20, 64, 104, 128})
        for (const int64_t rows : {12, 21}) {
            AttentionCase end(AttentionShape().lengths(rows, 131).head_counts(1, 1).dims(head_dim));
            give_options(end, alibi);
            check_at_end_of_memory(end);
            constexpr int64_t keys = 170, window = 60;
            AttentionCase c(shape_of(rows, keys, head_dim));
            give_options(c, alibi);
            c.args.causal = 1;
            c.args.window_left = window;
            check_garbage(c, in_causal_window(c), {keys - rows - window, keys - window - 2, keys - 2, keys - 1});
        }
    AttentionCase c(shape_of(20, 150, 64));
    c.args.mask = c.hold(scattered(20, 150));
    check_garbage(c, [](int64_t i, int64_t j) { return i != 1 && (i * 7 + j * 3) % 5 < 3; }, {0, 3, 77, 149});
}

TEST_CASE("key columns: packed sequences, some of which have them, give the bits that each has alone") {
    const auto cap = [](AttentionCase &c) {
        c.args.causal = 1;
        c.args.softcap = 20;
    };
    for (const int64_t heads : {1, 4})
        for (const int64_t head_dim : {64, 80}) {
            const AttentionShape shape = AttentionShape().head_counts(heads, 1).dims(head_dim);
            check_packed_and_alone(shape, {0, 20, 20, 37, 71, 124}, {0, 300, 400, 511, 1400, 1900}, cap);
            check_packed_and_alone(shape, {0, 12, 15, 23, 26}, {0, 100, 200, 300, 1200}, cap);
            check_packed_and_alone(shape, {0, 12, 15, 23, 26}, {0, 100, 200, 300, 1200},
                                   [](AttentionCase &c) { c.args.causal = 1; });
        }
}
