/// Grouped-query attention from C++17: a context of two threads, views of vectors, errors as exceptions.
#include <gyre/gyre.hpp>

#include <cstdio>
#include <vector>

int main() try {
    constexpr std::int64_t tokens = 96, heads = 8, kv_heads = 2, dim = 64;
    std::vector<float> q(tokens * heads * dim, 0.25f), k(tokens * kv_heads * dim, 0.5f), v(k), out(q.size());
    gyre_context_options options = gyre_context_defaults();
    options.threads = 2;
    const gyre::Context context(options);
    gyre::AttentionArgs args;
    args.q = gyre::view(q, {1, tokens, heads, dim});
    args.k = gyre::view(k, {1, tokens, kv_heads, dim});
    args.v = gyre::view(v, {1, tokens, kv_heads, dim});
    args.out = gyre::view(out, {1, tokens, heads, dim});
    args.causal = 1;
    gyre::attention(context, args);
    std::printf("out[0] = %g, by %s\n", static_cast<double>(out[0]), context.selected_kernel().c_str());

    args.v = gyre::view(v, {2, tokens / 2, kv_heads, dim}); // another batch than q's: refused by name
    try {
        gyre::attention(context, args);
    } catch (const gyre::Error &error) {
        std::printf("as expected: %s\n", error.what());
        return out[0] == 0.5f ? 0 : 1; // all values are 0.5, and so is every mean of them
    }
    return 1;
} catch (const gyre::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
