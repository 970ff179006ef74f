/// What a score function may ask for: every kind of input, in any strides, broadcast or not; with rows that it masks.
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/exact_workspace.h"
#include "support/score_probe.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

} // namespace

TEST_CASE("score: inputs broadcast over batch and heads, with 1s in front left out or not") {
    const std::vector<ProbeInputs> ways = {own_of_each,
                                           {{1, 4}, {3, 1}, {1, 4}, {3, 1}, {1, 1}},
                                           {{3, 1}, {1, 4}, {3, 1}, {1, 4}, {3, 4}},
                                           {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 4}},
                                           {{4}, {4}, {4}, {4}, {4}},
                                           {{1}, {}, {1}, {}, {}},
                                           {{}, {1}, {}, {1}, {1}}};
    for (const ProbeInputs &given : ways)
        for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD}) {
            ScoreCase c(AttentionShape().batches(3).lengths(33, 70).head_counts(4, 2).in(layout), "probe");
            give_probe(c, given);
            c.check();
        }
}

TEST_CASE("score: inputs in any strides: with gaps, transposed, repeating, backwards") {
    for (const int64_t gap : {0, 1, 7})
        for (const bool transposed : {false, true}) {
            ScoreCase c(AttentionShape().batches(3).lengths(33, 70).head_counts(4, 2), "probe");
            ProbeInputs given = own_of_each;
            given.gap = gap;
            given.transposed = transposed;
            give_probe(c, given);
            c.check();
        }
    ScoreCase c(AttentionShape().batches(3).lengths(33, 70).head_counts(4, 2), "probe");
    give_probe(c, own_of_each);
    c.give("pairs", Tensor(GYRE_F32, {3, 4, 33, 70}, Placement::with_strides({0, 5, 100, -1}))).shape[0] = 3;
    Tensor repeating(GYRE_F32, {4, 23}, Placement::with_strides({0, 0}));
    repeating.fill_normal(5);
    c.give("line", std::move(repeating));
    Tensor backwards(GYRE_F32, {33, 70}, Placement::with_strides({-70, -1}));
    backwards.fill_normal(6);
    c.give("pairs", std::move(backwards));
    c.oracle_score = oracle_probe(c);
    c.check();
}

TEST_CASE("score: inputs of every length, causal, windows and key lengths, in both alignments") {
    for (const int64_t lq : {1, 16, 49, 200})
        for (const int64_t lk : {1, 15, 128, 129, 300})
            for (const gyre_alignment alignment : {GYRE_BOTTOM_RIGHT, GYRE_TOP_LEFT}) {
                ScoreCase c(AttentionShape().batches(3).lengths(lq, lk).head_counts(4, 2), "probe");
                c.args.alignment = alignment;
                c.args.causal = lq % 2 == 0;
                if (lk > 128) c.args.window_left = 70;
                give_probe(c, own_of_each);
                c.check();
                c.args.seqused_k = c.hold(GYRE_I32, {(double)lk, 0, std::ceil((double)lk / 2)});
                c.oracle_score = oracle_probe(c);
                c.check();
            }
}

TEST_CASE("score: inputs of packed sequences") {
    ScoreCase c(AttentionShape().lengths(150, 260).head_counts(4, 2).in(GYRE_THD), "probe");
    c.args.cu_seqlens_q = c.hold(GYRE_I32, {0, 0, 7, 71, 71, 136, 150});
    c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, 65, 72, 72, 100, 259, 260});
    for (const int64_t entries : {1, 6}) {
        give_probe(c, {{entries, 4}, {entries, 4}, {entries, 1}, {1, 4}, {entries, 4}});
        c.check();
    }
    c.args.causal = 1;
    c.args.seqused_k = c.hold(GYRE_I32, {65, 7, 0, 13, 159, 1});
    c.oracle_score = oracle_probe(c);
    c.check();
}

TEST_CASE("score: a row that the function masks wholly gives 0 and minus infinity, beside rows that it does not") {
    for (const int64_t lk : {1, 40, 128, 300})
        for (const int causal : {0, 1}) {
            ScoreCase c(AttentionShape().lengths(50, lk), "document_mask");
            c.args.causal = causal;
            std::vector<double> of_q(50), of_k((size_t)lk, 1);
            for (size_t i = 0; i < 50; i++) of_q[i] = i % 3 == 0 ? 1 : 2;
            c.give("q_documents", GYRE_I32, {50}, of_q);
            c.give("k_documents", GYRE_I32, {lk}, of_k);
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                int64_t wrong = 0;
                for (int64_t i = 0; i < 50; i++) {
                    const bool sees = of_q[(size_t)i] == 1 && (!causal || i + lk - 50 >= 0);
                    wrong += std::isfinite(c.lse.get({0, 0, i})) != sees;
                    for (int64_t d = 0; d < 64; d++) wrong += (c.out.get({0, i, 0, d}) == 0) == sees;
                }
                CHECK(wrong == 0);
            });
        }
}

TEST_CASE("score: tables that hold minus infinity mask, whole rows too") {
    ScoreCase c(AttentionShape().batches(3).lengths(33, 70).head_counts(4, 2), "probe");
    give_probe(c, own_of_each);
    Tensor pairs(GYRE_F32, {33, 70});
    pairs.fill_normal(5);
    Random random(9);
    for (int64_t i = 0; i < 33; i++)
        for (int64_t j = 0; j < 70; j++)
            if (i % 5 == 0 || random.chance(0.4)) pairs.set({i, j}, random.chance(0.5) ? -infinity : -3.0e38);
    c.give("pairs", std::move(pairs));
    c.oracle_score = oracle_probe(c);
    c.check();
}

TEST_CASE("score: a workspace of exactly the size that was asked for, without data, is enough") {
    ScoreCase c(AttentionShape().batches(3).lengths(70, 140).head_counts(4, 2), "probe");
    give_probe(c, own_of_each);
    each_target(
        [&](gyre_context *context) {
            gyre_attention_args without_data = c.args;
            std::vector<gyre_score_input> shapes = c.inputs;
            for (gyre_score_input &input : shapes) input.tensor.data = nullptr;
            without_data.score_inputs = shapes.data();
            without_data.q.data = without_data.k.data = without_data.v.data = without_data.out.data = nullptr;
            size_t bytes = 0;
            REQUIRE_MESSAGE(gyre_attention_workspace_size(context, &without_data, &bytes) == GYRE_OK,
                            text(gyre_last_error()));
            check_exact_workspace(c, context, bytes);
        },
        2);
}
