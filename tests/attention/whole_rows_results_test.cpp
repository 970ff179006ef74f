/// Results of gyre_attention() for few queries of which kernels for many queries take some or all.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/packed_sequences.h"

#include <cmath>
#include <vector>

using namespace gyre::test;

namespace {

/// The shape of a call that has two key heads.
AttentionShape shape_of(int64_t queries, int64_t group, int64_t keys, int64_t head_dim, gyre_dtype dtype) {
    return AttentionShape().lengths(queries, keys).head_counts(2 * group, 2).dims(head_dim).of(dtype);
}

void give_options(AttentionCase &c) {
    const auto heads = static_cast<size_t>(c.shape.heads);
    c.args.softcap = 20;
    c.args.sinks = c.hold(GYRE_F32, std::vector<double>(heads, 0.5));
    c.args.alibi = c.hold(GYRE_F32, std::vector<double>(heads, 0.01));
}

/// A mask that shows each query a range of the first keys, or scattered ones of them, and all of the room behind them.
Tensor mask_of(int64_t queries, int64_t keys, int64_t room, bool is_range) {
    Tensor mask(GYRE_BOOL, {queries, room});
    for (int64_t i = 0; i < queries; i++)
        for (int64_t j = 0; j < room; j++) mask.set({i, j}, j >= keys || (is_range ? j >= 30 : (i + j) % 3 != 0));
    return mask;
}

/// Numbers with NaN behind them.
std::vector<double> with_room(std::vector<double> numbers, size_t room) {
    numbers.resize(room, NAN);
    return numbers;
}

} // namespace

TEST_CASE("whole rows: every option in one call, types, head sizes, groups, and lengths of a cache") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16})
        for (const int64_t head_dim : {24, 64, 80, 128, 136, 256})
            for (const int64_t group : {1, 5, 16})
                for (const int64_t keys : {17, 140}) {
                    AttentionCase c(shape_of(16, group, keys, head_dim, dtype));
                    c.args.softcap = 20;
                    c.args.causal = 1;
                    c.args.sinks = c.hold(GYRE_F32, std::vector<double>(static_cast<size_t>(2 * group), 0.5));
                    c.args.alibi = c.hold(GYRE_F32, std::vector<double>(static_cast<size_t>(2 * group), 0.01));
                    c.check();
                    c.args.window_left = 30;
                    c.args.seqused_k = c.hold(GYRE_I32, {static_cast<double>(keys - 1)});
                    c.check();
                }
}

TEST_CASE("whole rows: the number of threads does not change a bit") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16}) {
        AttentionCase c(shape_of(16, 4, 1000, 64, dtype));
        c.args.softcap = 20;
        c.args.causal = 1;
        c.check_threads({1, 2, 5, 16});
    }
}

TEST_CASE("whole rows: packed sequences, some with few rows and some with many, have the bits that each has alone") {
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16})
        for (const int64_t head_dim : {64, 80, 256})
            for (const bool has_options : {false, true})
                for (const bool has_lse : {false, true})
                    check_packed_and_alone(AttentionShape().head_counts(8, 2).dims(head_dim).of(dtype),
                                           {0, 16, 17, 20, 36}, {0, 40, 240, 257, 1157}, [&](AttentionCase &c) {
                                               c.args.causal = 1;
                                               if (has_options) give_options(c);
                                               if (!has_lse) c.args.lse = nullptr;
                                           });
}

TEST_CASE(
    "whole rows: keys of a cache that a mask hides in part have the bits that they have without the cache's room") {
    constexpr int64_t queries = 6, group = 4, room = 1000;
    for (const gyre_dtype dtype : {GYRE_F32, GYRE_F16, GYRE_BF16})
        for (const int64_t head_dim : {64, 91})
            for (const int64_t keys : {91, 600})
                for (const bool is_range : {false, true}) {
                    AttentionCase alone(shape_of(queries, group, keys, head_dim, dtype));
                    AttentionCase roomy(shape_of(queries, group, room, head_dim, dtype));
                    alone.args.mask = alone.hold(mask_of(queries, keys, keys, is_range));
                    roomy.args.mask = roomy.hold(mask_of(queries, keys, room, is_range));
                    roomy.args.seqused_k = roomy.hold(GYRE_I32, {static_cast<double>(keys)});
                    roomy.q.set_values(alone.q.values());
                    roomy.k.set_values(with_room(alone.k.values(), roomy.k.values().size()));
                    roomy.v.set_values(with_room(alone.v.values(), roomy.v.values().size()));
                    alone.check();
                    each_target([&](gyre_context *context) {
                        REQUIRE(alone.run(context) == GYRE_OK);
                        REQUIRE(roomy.run(context) == GYRE_OK);
                        CHECK(roomy.out.values() == alone.out.values());
                    });
                }
}

TEST_CASE("whole rows: f32 with options is cut into parts of keys as well") {
    for (const int64_t head_dim : {64, 72})
        for (const int64_t keys : {1025, 2300})
            for (const int64_t group : {2, 7}) {
                AttentionCase c(shape_of(15, group, keys, head_dim, GYRE_F32));
                give_options(c);
                c.args.causal = 1;
                c.check();
                c.check_threads({1, 2, 5});
                c.args.window_left = 1100;
                c.args.lse = nullptr;
                c.check();
                c.args.window_left = -1;
                Tensor mask(GYRE_BOOL, {15, keys});
                for (int64_t i = 0; i < 15; i++)
                    for (int64_t j = 0; j < keys; j++) mask.set({i, j}, j < keys - 20 || (i + j) % 3 != 0);
                c.args.mask = c.hold(std::move(mask));
                c.check();
            }
}

TEST_CASE("whole rows: f32 with masks alone, some rows of which see a range of keys that is shorter than a part") {
    for (const int64_t keys : {1100, 2300}) {
        AttentionCase c(shape_of(15, 2, keys, 64, GYRE_F32));
        Tensor mask(GYRE_BOOL, {15, keys});
        for (int64_t i = 0; i < 15; i++)
            for (int64_t j = 0; j < keys; j++)
                mask.set({i, j}, i < 12 ? j >= 40 * i && j < 40 * i + 90 : (j < keys - 20 || (i + j) % 3 != 0));
        c.args.mask = c.hold(std::move(mask));
        c.check();
        c.check_threads({1, 2, 5});
    }
}
