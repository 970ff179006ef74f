/// Score functions in 16 bits: on matrix tiles, and on vectors.
#include "support/each_kernel.h"
#include "support/score_models.h"
#include "support/score_probe.h"

#include <array>
#include <limits>
#include <string>

using namespace gyre::test;

namespace {

/// While it lives, checks run where there are kernels of that function and type.
OnlyWithKernel only_with(const std::string &score, gyre_dtype dtype) {
    return OnlyWithKernel("attention_score_" + score + (dtype == GYRE_F16 ? "_f16_d64" : "_bf16_d64"));
}

const std::vector<std::string> made = {"deberta", "t5_bidirectional"}; // ../score_kernels.cmake

/// For each type and each such model: check(shape in that type, model).
template <class Check>
void each_model(const AttentionShape &shape, const Check &check) {
    for (const gyre_dtype dtype : {GYRE_BF16, GYRE_F16})
        for (const std::string &score : made) {
            const OnlyWithKernel targets = only_with(score, dtype);
            if (runnable_targets().empty()) continue; // emulated tiles have no f16
            ScoreCase c(AttentionShape(shape).of(dtype), score.c_str());
            check(c, score_model(score));
        }
}

} // namespace

TEST_CASE("score: in 16 bits, ragged lengths, causal or not") {
    for (const auto &[queries, keys] : {std::array<int64_t, 2>{1, 1}, {17, 70}, {130, 130}, {70, 190}, {300, 257}})
        for (const int causal : {0, 1})
            each_model(AttentionShape().lengths(queries, keys).head_counts(2, 2),
                       [&](ScoreCase &c, const ScoreModel &model) {
                           c.args.causal = causal;
                           model.prepare(c, 11);
                           c.check();
                       });
}

TEST_CASE("score: in 16 bits, a batch, grouped heads, a window and key lengths") {
    each_model(AttentionShape().batches(3).lengths(75, 140).head_counts(4, 2),
               [](ScoreCase &c, const ScoreModel &model) {
                   c.args.window_left = 60;
                   c.args.window_right = 20;
                   model.prepare(c, 13);
                   c.check();
                   c.args.seqused_k = c.hold(GYRE_I32, {140, 0, 77});
                   c.check();
               });
}

TEST_CASE("score: in 16 bits, softcap, bias, mask, sinks and ALiBi beside it") {
    each_model(AttentionShape().batches(2).lengths(50, 70).head_counts(2, 2),
               [](ScoreCase &c, const ScoreModel &model) {
                   c.give_options();
                   model.prepare(c, 15);
                   c.check();
               });
}

TEST_CASE("score: in 16 bits, every kind of input, every field of the point") {
    for (const gyre_dtype dtype : {GYRE_BF16, GYRE_F16})
        for (const auto &[queries, keys] : {std::array<int64_t, 2>{1, 15}, {33, 70}, {200, 300}}) {
            const OnlyWithKernel targets = only_with("probe", dtype);
            if (runnable_targets().empty()) continue;
            ScoreCase c(AttentionShape().batches(3).lengths(queries, keys).head_counts(4, 2).of(dtype), "probe");
            c.args.causal = queries > 1;
            give_probe(c, own_of_each);
            c.check();
        }
}

TEST_CASE("score: in 16 bits, keys that the function masks stay masked beside a bias") {
    for (const gyre_dtype dtype : {GYRE_BF16, GYRE_F16}) {
        const OnlyWithKernel targets = only_with("probe", dtype);
        if (runnable_targets().empty()) continue;
        ScoreCase c(AttentionShape().batches(3).lengths(33, 70).head_counts(4, 2).of(dtype), "probe");
        give_probe(c, own_of_each);
        Tensor pairs(GYRE_F32, {33, 70});
        pairs.fill_normal(5);
        for (int64_t i = 0; i < 33; i++)
            for (int64_t j = i % 3; j < 70; j += 3) pairs.set({i, j}, -std::numeric_limits<double>::infinity());
        c.give("pairs", std::move(pairs));
        c.oracle_score = oracle_probe(c);
        for (const gyre_dtype of_bias : {GYRE_BF16, GYRE_F16, GYRE_F32}) {
            Tensor bias(of_bias, {33, 70});
            bias.fill_normal(7);
            c.args.bias = c.hold(std::move(bias));
            c.check();
        }
    }
}
