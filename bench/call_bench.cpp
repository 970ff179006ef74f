/// What a call of attention costs that has next to nothing to compute: one query on one key, by type, heads and options.
#include "tensors.h"

#include <benchmark/benchmark.h>

#include <string>
#include <utility>

namespace gyre::bench {
namespace {

constexpr std::int64_t head_dim = 64;

enum Option { plain, rope, alibi, softcap, sinks, mask, lse, option_count };
constexpr const char *option_names[] = {"plain", "rope", "alibi", "softcap", "sinks", "mask", "lse"};

/// Numbers of any type: zeros, so that their bits do not matter.
struct Rows {
    Extents shape;
    std::vector<float> numbers;

    Rows(std::int64_t heads, std::int64_t tokens)
        : shape{1, heads, tokens, head_dim}, numbers(static_cast<std::size_t>(shape.product())) {}
    gyre_tensor view_as(gyre_dtype dtype) { return view(numbers.data(), dtype, shape); }
};

void attention_call(benchmark::State &state, gyre_dtype dtype, Option option) {
    const std::int64_t heads = state.range(0), queries = state.range(1), keys = state.range(2);
    Rows q(heads, queries), k(heads, keys), v(heads, keys), out(heads, queries);
    std::vector<float> per_head(static_cast<std::size_t>(heads)),
        lse_numbers(static_cast<std::size_t>(heads * queries));
    std::vector<unsigned char> seen(static_cast<std::size_t>(queries * keys), 1);
    const gyre_tensor of_heads = view(per_head.data(), GYRE_F32, {heads});
    const gyre_tensor all_seen = view(seen.data(), GYRE_BOOL, {1, 1, queries, keys});
    gyre_tensor lse_tensor = view(lse_numbers.data(), GYRE_F32, {1, heads, queries});
    const Rope whole_head;
    AttentionArgs args;
    args.layout = GYRE_BHSD;
    args.q = q.view_as(dtype);
    args.k = k.view_as(dtype);
    args.v = v.view_as(dtype);
    args.out = out.view_as(dtype);
    if (option == rope) args.rope = &whole_head;
    if (option == alibi) args.alibi = &of_heads;
    if (option == softcap) args.softcap = 30;
    if (option == sinks) args.sinks = &of_heads;
    if (option == mask) args.mask = &all_seen;
    if (option == lse) args.lse = &lse_tensor;
    for (auto _ : state) attention(context(), args);
    state.SetLabel(context().selected_kernel());
}

void heads_queries_keys(benchmark::internal::Benchmark *b) {
    b->ArgNames({"heads", "queries", "keys"})->Unit(benchmark::kNanosecond);
    b->Args({1, 1, 1})->Args({1, 1, 32})->Args({12, 1, 1})->Args({12, 1, 32})->Args({1, 17, 17})->Args({12, 17, 17});
}

const bool registered = [] {
    for (const auto &[dtype, name] : {std::pair(GYRE_F32, "f32"), {GYRE_F16, "f16"}, {GYRE_BF16, "bf16"}})
        for (int i = 0; i < option_count; i++) {
            const std::string title = std::string("attention_call/") + name + "/" + option_names[i];
            benchmark::RegisterBenchmark(title.c_str(), attention_call, dtype, static_cast<Option>(i))
                ->Apply(heads_queries_keys);
        }
    return true;
}();

} // namespace
} // namespace gyre::bench
