/// Rotary embedding: out of place and in place, in and out of cache.
#include "tensors.h"

#include <benchmark/benchmark.h>

namespace gyre::bench {
namespace {

void rotary_f32(benchmark::State &state) {
    const std::int64_t tokens = state.range(0), heads = state.range(1), head_dim = state.range(2);
    const bool in_place = state.range(3) != 0;
    std::vector<float> x = random_floats(tokens * heads * head_dim, 1), y(x.size());
    RotaryArgs args;
    args.x = view(x, {1, tokens, heads, head_dim});
    args.out = view(in_place ? x : y, {1, tokens, heads, head_dim});
    for (auto _ : state) rotary(context(), args);
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(2 * x.size() * sizeof(float)));
    state.SetLabel(context().selected_kernel());
}
BENCHMARK(rotary_f32)
    ->ArgNames({"tokens", "heads", "head_dim", "in_place"})
    ->ArgsProduct({{1, 128, 4096}, {8, 32}, {64, 128}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

} // namespace
} // namespace gyre::bench
