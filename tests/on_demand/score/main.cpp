/// Attention with the score function of page_bonus.h, compared with a plain loop in double.
#include <gyre/gyre.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t batch = 2, seqlen = 150, heads = 4, kv_heads = 2, head_dim = 48, pages = 5;
constexpr std::int32_t page_size = 20, horizons[heads] = {0, 7, 40, 1000};

std::vector<float> normal_numbers(std::int64_t count, unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal;
    std::vector<float> numbers(static_cast<std::size_t>(count));
    for (float &number : numbers) number = normal(engine);
    return numbers;
}

/// Row i of head h, causal, by the definition.
std::vector<double> row(const float *q, const float *k, const float *v, const float *bonus, std::int64_t h,
                        std::int64_t i) {
    const auto head = [](const float *x, std::int64_t token, std::int64_t all, std::int64_t one) {
        return x + (token * all + one) * head_dim;
    };
    const std::int64_t kv_head = h / (heads / kv_heads);
    std::vector<double> scores, out(head_dim);
    for (std::int64_t j = 0; j <= i; j++) {
        double score = 0;
        for (std::int64_t d = 0; d < head_dim; d++)
            score +=
                static_cast<double>(head(q, i, heads, h)[d]) * static_cast<double>(head(k, j, kv_heads, kv_head)[d]);
        score = score / std::sqrt(static_cast<double>(head_dim)) +
                static_cast<double>(bonus[h * pages + std::min(j / page_size, pages - 1)]);
        const bool seen = i - j <= horizons[h] || j < page_size;
        scores.push_back(seen ? score : -std::numeric_limits<double>::infinity());
    }
    const double most = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (double &score : scores) sum += score = std::exp(score - most);
    for (std::int64_t j = 0; j <= i; j++)
        for (std::int64_t d = 0; d < head_dim; d++)
            out[static_cast<std::size_t>(d)] +=
                scores[static_cast<std::size_t>(j)] / sum * static_cast<double>(head(v, j, kv_heads, kv_head)[d]);
    return out;
}

} // namespace

int main() try {
    const auto q = normal_numbers(batch * seqlen * heads * head_dim, 1);
    const auto k = normal_numbers(batch * seqlen * kv_heads * head_dim, 2);
    const auto v = normal_numbers(batch * seqlen * kv_heads * head_dim, 3), bonus = normal_numbers(heads * pages, 4);
    std::vector<float> out(q.size(), std::numeric_limits<float>::quiet_NaN());

    const gyre::Context context;
    gyre::AttentionArgs args;
    args.q = gyre::view(q, {batch, seqlen, heads, head_dim});
    args.k = gyre::view(k, {batch, seqlen, kv_heads, head_dim});
    args.v = gyre::view(v, {batch, seqlen, kv_heads, head_dim});
    args.out = gyre::view(out, {batch, seqlen, heads, head_dim});
    args.causal = 1;
    const std::vector<gyre_score_input> inputs = {{"page_size", gyre::view(&page_size, {1})},
                                                  {"horizon", gyre::view(horizons, {heads})},
                                                  {"bonus", gyre::view(bonus, {heads, pages})}};
    args.use_score("page_bonus", inputs);
    gyre::attention(context, args);
    std::printf("%s of %s\n", context.selected_kernel().c_str(), context.selected_library().c_str());
    if (context.selected_library() != "page_kernels") return 1;

    double worst = 0;
    for (std::int64_t b = 0; b < batch; b++)
        for (std::int64_t i = 0; i < seqlen; i++)
            for (std::int64_t h = 0; h < heads; h++) {
                const std::int64_t of_kv = b * seqlen * kv_heads * head_dim;
                const auto expected =
                    row(&q[static_cast<std::size_t>(b * seqlen * heads * head_dim)],
                        &k[static_cast<std::size_t>(of_kv)], &v[static_cast<std::size_t>(of_kv)], bonus.data(), h, i);
                const float *got = &out[static_cast<std::size_t>(((b * seqlen + i) * heads + h) * head_dim)];
                for (std::size_t d = 0; d < expected.size(); d++) {
                    const double error = std::abs(static_cast<double>(got[d]) - expected[d]);
                    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
                }
            }
    std::printf("largest error %g\n", worst);
    if (worst > 4e-6) return 1;

    // Without the score there is no kernel: what was made serves this score function alone.
    args.score = nullptr;
    args.score_inputs = nullptr;
    args.score_input_count = 0;
    try {
        gyre::attention(context, args);
        return 1;
    } catch (const gyre::Error &error) {
        std::printf("as expected: %s\n", error.what());
        return error.status() == GYRE_UNSUPPORTED ? 0 : 1;
    }
} catch (const gyre::Error &error) {
    std::printf("%s\n", error.what());
    return 1;
}
