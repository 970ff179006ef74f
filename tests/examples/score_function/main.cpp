/// Attention with the score function of near_first.h: beyond its reach of 0 a token sees itself alone.
#include <gyre/gyre.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

int main() try {
    constexpr std::int64_t tokens = 50, heads = 2, dim = 48;
    std::vector<float> x(tokens * heads * dim), out(x.size());
    for (std::size_t i = 0; i < x.size(); i++) x[i] = std::sin(static_cast<float>(i));
    const float slopes[heads] = {0.5f, 0.25f};
    const std::int32_t reach = 0;
    const std::vector<gyre_score_input> inputs = {{"slopes", gyre::view(slopes, {heads})},
                                                  {"reach", gyre::view(&reach, {1})}};
    gyre::AttentionArgs args;
    args.q = args.k = args.v = gyre::view(x, {1, tokens, heads, dim});
    args.out = gyre::view(out, {1, tokens, heads, dim});
    args.causal = 1;
    args.use_score("near_first", inputs);
    const gyre::Context context;
    gyre::attention(context, args);
    std::printf("by %s of %s\n", context.selected_kernel().c_str(), context.selected_library().c_str());
    for (std::size_t i = 0; i < x.size(); i++)
        if (!(std::abs(out[i] - x[i]) < 1e-6f)) return 1;
    return 0;
} catch (const gyre::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
