/// gyre_attention() of few queries to so few keys that they are one part: f32 results are written where they are to be, and not merged.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

using namespace gyre::test;

namespace {

constexpr int64_t least_part = 1024; // as runtime/attention has it

constexpr int64_t batch = 8, queries = 8, heads = 8, head_dim = 64;

/// What a call of so many keys asks for, by a query without data.
size_t workspace_of(gyre_context *context, int64_t keys, gyre_dtype dtype, bool has_sinks, int64_t key_heads = heads) {
    const int64_t rows[] = {batch, queries, heads, head_dim}, columns[] = {batch, keys, key_heads, head_dim};
    const gyre_tensor sinks = gyre_tensor_dense(nullptr, GYRE_F32, 1, &heads);
    gyre_attention_args args = gyre_attention_defaults();
    args.q = args.out = gyre_tensor_dense(nullptr, dtype, 4, rows);
    args.k = args.v = gyre_tensor_dense(nullptr, dtype, 4, columns);
    if (has_sinks) args.sinks = &sinks;
    size_t bytes = 0;
    REQUIRE_MESSAGE(gyre_attention_workspace_size(context, &args, &bytes) == GYRE_OK, text(gyre_last_error()));
    return bytes;
}

} // namespace

TEST_CASE("one part: no memory is asked for parts, but where there are more, sinks or a narrower type") {
    constexpr size_t part = static_cast<size_t>(batch * queries * heads * head_dim) * sizeof(float);
    each_target([&](gyre_context *context) {
        const size_t whole = workspace_of(context, least_part, GYRE_F32, false);
        CHECK(workspace_of(context, least_part, GYRE_F32, true) >= whole + part);
        CHECK(workspace_of(context, least_part + 1, GYRE_F32, false) >= whole + 2 * part);
        CHECK(workspace_of(context, least_part, GYRE_BF16, false) >= part);
    });
}

TEST_CASE("one part: kernels for many queries add sinks themselves, to their last sums") {
    constexpr size_t part = static_cast<size_t>(batch * queries * heads * head_dim) * sizeof(float);
    const std::vector<std::string> targets = runnable_targets();
    if (std::find(targets.begin(), targets.end(), "x86_64_avx2") == targets.end()) return;
    const Context context("x86_64_avx2");
    constexpr int64_t few = 8, key_heads = 2; // 32 rows each
    const size_t whole = workspace_of(context, few, GYRE_F32, false, key_heads);
    CHECK(workspace_of(context, few, GYRE_F32, true, key_heads) < whole + part);
}

TEST_CASE("one part: results are those that a merge gives, with lse and without") {
    for (const auto &[queries, keys] :
         {std::array{int64_t{3}, int64_t{1}}, {3, 40}, {3, least_part}, {16, 3}, {16, 40}})
        for (const int64_t dim : {16, 64, 72}) {
            AttentionCase c(AttentionShape().batches(2).lengths(queries, keys).head_counts(6, 2).dims(dim));
            c.args.causal = 1;
            c.check();
            const gyre_tensor *sinks = c.hold(GYRE_F32, std::vector<double>(6, -INFINITY));
            each_target([&](gyre_context *context) {
                REQUIRE(c.run(context) == GYRE_OK);
                const std::vector<double> out = c.out.values(), lse = c.lse.values();
                c.args.sinks = sinks;
                REQUIRE(c.run(context) == GYRE_OK);
                CHECK(c.out.values() == out);
                CHECK(c.lse.values() == lse);
                c.args.sinks = nullptr;
                const gyre_tensor *const with_lse = c.args.lse;
                c.args.lse = nullptr;
                REQUIRE(c.run(context) == GYRE_OK);
                CHECK(c.out.values() == out);
                c.args.lse = with_lse;
            });
        }
}

TEST_CASE("one part: beside sequences of several, and of none, a sequence has the bits that it has alone") {
    AttentionCase all(AttentionShape().batches(3).lengths(2, 2600).head_counts(4, 2).dims(64));
    all.args.seqused_k = all.hold(GYRE_I32, {70, 2600, 0});
    all.check();
    AttentionCase alone(AttentionShape().lengths(2, 70).head_counts(4, 2).dims(64));
    const auto first = [](const Tensor &t, int64_t tokens) {
        const std::vector<double> values = t.values();
        return std::vector<double>(values.begin(), values.begin() + tokens * t.shape()[2] * t.shape()[3]);
    };
    alone.q.set_values(first(all.q, 2));
    alone.k.set_values(first(all.k, 70));
    alone.v.set_values(first(all.v, 70));
    each_target([&](gyre_context *context) {
        REQUIRE(all.run(context) == GYRE_OK);
        REQUIRE(alone.run(context) == GYRE_OK);
        CHECK(first(all.out, 2) == first(alone.out, 2));
    });
}

TEST_CASE("one part: the output may be the queries themselves, in any layout and with gaps") {
    for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD})
        for (const int64_t seqlen : {1, 5, 16})
            for (const int64_t sharing : {1, 12}) {
                AttentionCase c(AttentionShape()
                                    .batches(2)
                                    .lengths(seqlen, 70)
                                    .head_counts(2 * sharing, 2)
                                    .dims(72)
                                    .in(layout, Placement::with_gaps(3)));
                const gyre_rope rope = gyre_rope_defaults();
                c.args.causal = 1;
                c.args.window_left = 20;
                c.args.rope = c.args.value_rope = &rope;
                c.check();
                c.check_in_place();
            }
}
