/// gyre_attention() of many queries whose rows are too few to gain by copies of keys and values: in f32 on AVX-512 kernels read them where they are.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/guarded_keys.h"
#include "support/masked_garbage.h"
#include "support/packed_sequences.h"

#include <algorithm>

using namespace gyre::test;

namespace {

/// A causal call in f32.
struct Causal : AttentionCase {
    explicit Causal(const AttentionShape &shape) : AttentionCase(shape) { args.causal = 1; }
};

/// Rows of keys lie 768 bytes apart at head size 64.
AttentionShape apart(int64_t queries, int64_t keys, int64_t head_dim = 64) {
    return AttentionShape().lengths(queries, keys).head_counts(3, 3).dims(head_dim);
}

/// They lie 4 KiB apart.
AttentionShape sharing_sets(int64_t queries, int64_t keys, gyre_layout layout = GYRE_BSHD) {
    return AttentionShape().lengths(queries, keys).head_counts(16, 16).dims(64).in(layout);
}

bool has_target() {
    const std::vector<std::string> targets = runnable_targets();
    return std::find(targets.begin(), targets.end(), "x86_64_avx512") != targets.end();
}

bool is_uncopied(AttentionCase &c) {
    const Context context("x86_64_avx512");
    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
    return text(gyre_selected_kernel(context)).rfind("attention_many_rows_as_stored_f32", 0) == 0;
}

bool is_uncopied(const AttentionShape &shape) {
    Causal c(shape);
    return is_uncopied(c);
}

} // namespace

TEST_CASE("uncopied: which rows they are") {
    if (!has_target()) return;
    for (const int64_t head_dim : {16, 40, 64, 80, 128, 200}) {
        CAPTURE(head_dim);
        CHECK(is_uncopied(apart(17, head_dim < 40 ? 64 : 17, head_dim)));
        CHECK(is_uncopied(apart(192, 300, head_dim)));
        CHECK_FALSE(is_uncopied(apart(193, 300, head_dim)));
    }
    CHECK_FALSE(is_uncopied(apart(17, 100, 8))); // less than a vector
    CHECK_FALSE(is_uncopied(apart(32, 63, 32)));
    CHECK(is_uncopied(apart(33, 63, 32)));
    CHECK(is_uncopied(AttentionShape().lengths(48, 60).head_counts(4, 1).dims(64)));
    CHECK_FALSE(is_uncopied(AttentionShape().lengths(49, 60).head_counts(4, 1).dims(64)));
    CHECK_FALSE(is_uncopied(apart(17, 17).of(GYRE_F16)));
    CHECK_FALSE(is_uncopied(apart(17, 17).keys_of(GYRE_F16)));
}

TEST_CASE("uncopied: which rows they are where rows of keys share sets of L1") {
    if (!has_target()) return;
    for (const int64_t queries : {21, 31}) CHECK(is_uncopied(sharing_sets(queries, queries)));
    for (const int64_t queries : {32, 48}) {
        CHECK(is_uncopied(sharing_sets(queries, 128)));
        CHECK_FALSE(is_uncopied(sharing_sets(queries, 127)));
    }
    for (const int64_t queries : {20, 49}) CHECK_FALSE(is_uncopied(sharing_sets(queries, 300)));
    CHECK(is_uncopied(sharing_sets(49, 300, GYRE_BHSD)));
}

TEST_CASE("uncopied: calls with sinks or rotated keys are not") {
    if (!has_target()) return;
    Causal sinks(apart(40, 100)), rotated(apart(40, 100));
    sinks.args.sinks = sinks.hold(GYRE_F32, {1.5, 0, -1});
    CHECK_FALSE(is_uncopied(sinks));
    const gyre_rope rope = gyre_rope_defaults();
    rotated.args.rope = &rope;
    CHECK_FALSE(is_uncopied(rotated));
    rotated.args.keys_rotated = 1;
    CHECK(is_uncopied(rotated));
    rotated.check();
}

TEST_CASE("uncopied: counts of rows and keys, heads that share keys, windows and lse") {
    for (const int64_t head_dim : {16, 20, 64, 72, 128, 200, 512})
        for (const int64_t heads : {1, 3})
            for (const int64_t queries : {17, 32, 33, 49, 64})
                for (const int64_t keys : {5, 64, 131, 270}) {
                    AttentionCase c(AttentionShape().lengths(queries, keys).head_counts(2 * heads, 2).dims(head_dim));
                    c.check();
                    c.args.causal = 1;
                    c.check();
                    c.args.window_left = 50;
                    c.args.lse = nullptr;
                    c.check();
                }
}

TEST_CASE("uncopied: values of another size, outputs in the queries' memory, and threads") {
    Causal values(AttentionShape().batches(2).lengths(40, 150).head_counts(6, 2).dims(192, 128));
    values.check();
    values.check_threads({1, 2, 5});
    Causal c(AttentionShape().batches(2).lengths(70, 200).head_counts(4, 2).dims(96));
    c.check_in_place();
    c.check_threads({1, 3, 16});
}

TEST_CASE("uncopied: the bits are those of kernels that copy keys and values") {
    if (!has_target()) return;
    for (const int64_t queries : {18, 48, 50, 120}) {
        Causal copied(sharing_sets(queries, queries + 10));
        Causal uncopied(sharing_sets(queries, queries + 10).in(GYRE_BSHD, Placement::with_gaps(3)));
        CHECK_FALSE(is_uncopied(copied));
        CHECK(is_uncopied(uncopied));
        CHECK(copied.output().data == uncopied.output().data);
        CHECK(copied.lse.bits() == uncopied.lse.bits());
    }
    for (const int64_t head_dim : {16, 40, 80, 128, 200}) { // a sink without weight leaves all bits but is not taken
        Causal uncopied(apart(60, 170, head_dim)), copied(apart(60, 170, head_dim));
        copied.args.sinks = copied.hold(GYRE_F32, std::vector<double>(3, -1e30));
        CHECK(is_uncopied(uncopied));
        CHECK_FALSE(is_uncopied(copied));
        CHECK(uncopied.out.bits() == copied.out.bits());
    }
}

TEST_CASE("uncopied: nothing is read past the last key, and what a row does not see does not change its bits") {
    for (const int64_t head_dim : {20, 64, 104, 128}) {
        AttentionCase end(AttentionShape().lengths(34, 131).head_counts(1, 1).dims(head_dim));
        check_at_end_of_memory(end);
        constexpr int64_t queries = 40, keys = 170, window = 60;
        Causal c(AttentionShape().lengths(queries, keys).head_counts(2, 1).dims(head_dim));
        c.args.window_left = window;
        check_garbage(c, in_causal_window(c), {keys - queries - window, keys - window - 2, keys - 2, keys - 1});
    }
}

TEST_CASE("uncopied: packed sequences give the bits that each has alone") {
    for (const int64_t heads : {1, 3})
        for (const int64_t head_dim : {64, 80})
            check_packed_and_alone(AttentionShape().head_counts(heads, 1).dims(head_dim), {0, 33, 33, 51, 251},
                                   {0, 300, 400, 800, 1200}, [](AttentionCase &c) { c.args.causal = 1; });
}
