#include "score_models.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gyre::test {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

void prepare_t5(ScoreCase &c, uint64_t seed, bool bidirectional) {
    const int64_t heads = c.shape.heads;
    const std::vector<double> embedding = normal_numbers(seed, 32 * heads); // relative_attention_bias [32, heads]
    Tensor bias(GYRE_F32, {heads, 32}, Placement::with_strides({1, heads}));
    for (int64_t b = 0; b < 32; b++)
        for (int64_t h = 0; h < heads; h++) bias.set({h, b}, embedding[(size_t)(b * heads + h)]);
    c.args.scale = 1;
    c.give("bias", std::move(bias));
    c.oracle_score = [=](const OraclePoint &p) {
        return p.score + embedding[(size_t)(t5_bucket(p.ahead, bidirectional, 32, 128) * heads + p.head)];
    };
}

/// Integers for each token of each entry: the same for all heads.
std::vector<double> integers(uint64_t seed, int64_t count, int64_t lowest, int64_t highest) {
    Random random(seed);
    std::vector<double> numbers((size_t)count);
    for (double &number : numbers) number = (double)random.integer(lowest, highest);
    return numbers;
}

} // namespace

const std::vector<ScoreModel> &score_models() {
    static const std::vector<ScoreModel> models = {
        {"alibi", prepare_alibi},
        {"deberta", prepare_deberta},
        {"document_mask", prepare_document_mask},
        {"shaw", prepare_shaw},
        {"sliding_window_global", prepare_sliding_window_global},
        {"t5_bidirectional", prepare_t5_bidirectional},
        {"t5_causal", prepare_t5_causal},
        {"transformer_xl", prepare_transformer_xl},
    };
    return models;
}

const ScoreModel &score_model(const std::string &score) {
    return *std::find_if(score_models().begin(), score_models().end(),
                         [&](const ScoreModel &model) { return model.score == score; });
}

int64_t t5_bucket(int64_t relative_position, bool bidirectional, int64_t num_buckets, int64_t max_distance) {
    int64_t first = 0, n = -relative_position;
    if (bidirectional) {
        num_buckets /= 2;
        if (n < 0) {
            first = num_buckets;
            n = -n;
        }
    } else {
        n = std::max<int64_t>(n, 0);
    }
    const int64_t exact = num_buckets / 2;
    if (n < exact) return first + n;
    const long double share = std::log((long double)n / exact) / std::log((long double)max_distance / exact);
    const auto wide = (int64_t)std::floor(share * (num_buckets - exact) + 1e-12L); // a whole share stays whole
    return first + std::min(exact + wide, num_buckets - 1);
}

void prepare_alibi(ScoreCase &c, uint64_t seed) {
    std::vector<double> slopes = normal_numbers(seed, c.shape.heads);
    for (double &slope : slopes) slope = (float)std::exp2(-4 + slope);
    c.give("slopes", GYRE_F32, {1, c.shape.heads}, slopes);
    c.oracle_score = [=](const OraclePoint &p) {
        return p.score - slopes[(size_t)p.head] * std::fabs((double)p.ahead);
    };
}

void prepare_t5_bidirectional(ScoreCase &c, uint64_t seed) { prepare_t5(c, seed, true); }
void prepare_t5_causal(ScoreCase &c, uint64_t seed) { prepare_t5(c, seed, false); }

void prepare_sliding_window_global(ScoreCase &c, uint64_t seed) {
    const int64_t batch = c.args.layout == GYRE_THD ? 1 : c.shape.batch, lq = c.shape.seqlen_q, lk = c.shape.seqlen_kv;
    const std::vector<double> window = integers(seed, c.shape.heads, 0, 20);
    std::vector<double> q_global = integers(seed + 1, batch * lq, -4, 1),
                        k_global = integers(seed + 2, batch * lk, -4, 1);
    for (std::vector<double> *flags : {&q_global, &k_global})
        for (double &flag : *flags) flag = flag > 0 ? 7 : 0;
    c.give("window", GYRE_I32, {1, c.shape.heads}, window);
    c.give("k_global", GYRE_I32, {batch, 1, lk}, k_global);
    c.give("q_global", GYRE_I32, {batch, 1, lq}, q_global);
    c.oracle_score = [=](const OraclePoint &p) {
        const int64_t entry = batch == 1 ? 0 : p.entry;
        const bool global =
            q_global[(size_t)(entry * lq + p.q_token)] != 0 || k_global[(size_t)(entry * lk + p.k_token)] != 0;
        return global || (double)std::abs(p.ahead) <= window[(size_t)p.head] ? p.score : minus_infinity;
    };
}

void prepare_document_mask(ScoreCase &c, uint64_t seed) {
    const int64_t batch = c.args.layout == GYRE_THD ? 1 : c.shape.batch, lq = c.shape.seqlen_q, lk = c.shape.seqlen_kv;
    const std::vector<double> of_q = integers(seed, batch * lq, 0, 4), of_k = integers(seed + 1, batch * lk, 1, 4);
    c.give("q_documents", GYRE_I32, {batch, 1, lq}, of_q);
    c.give("k_documents", GYRE_I32, {batch, 1, lk}, of_k);
    c.oracle_score = [=](const OraclePoint &p) {
        const int64_t entry = batch == 1 ? 0 : p.entry;
        const bool same = of_q[(size_t)(entry * lq + p.q_token)] == of_k[(size_t)(entry * lk + p.k_token)];
        return same ? p.score : minus_infinity;
    };
}

} // namespace gyre::test
