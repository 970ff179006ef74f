/// Attention forward in f32: plain, with rotated queries and keys, and with rotated values as well.
#include "tensors.h"

#include <benchmark/benchmark.h>

namespace gyre::bench {
namespace {

enum Rotation { plain, rope, roper };

void attention_f32(benchmark::State &state) {
    const std::int64_t seqlen = state.range(0), heads = state.range(1), head_dim = state.range(2);
    const bool causal = state.range(3) != 0;
    const Extents shape = {1, heads, seqlen, head_dim};
    std::vector<float> q = random_floats(shape.product(), 1), k = random_floats(shape.product(), 2);
    std::vector<float> v = random_floats(shape.product(), 3), out(q.size());
    const Rope whole_head;
    AttentionArgs args;
    args.layout = GYRE_BHSD;
    args.q = view(q, shape);
    args.k = view(k, shape);
    args.v = view(v, shape);
    args.out = view(out, shape);
    args.causal = causal;
    if (state.range(4) >= rope) args.rope = &whole_head;
    if (state.range(4) >= roper) args.value_rope = &whole_head;
    for (auto _ : state) attention(context(), args);
    // Two products of visible queries and keys, a multiply and an add each.
    const double visible = causal ? 0.5 * static_cast<double>(seqlen) * static_cast<double>(seqlen + 1)
                                  : static_cast<double>(seqlen) * static_cast<double>(seqlen);
    state.counters["FLOP/s"] = benchmark::Counter(4 * visible * static_cast<double>(heads * head_dim),
                                                  benchmark::Counter::kIsIterationInvariantRate);
    state.SetLabel(context().selected_kernel());
}
BENCHMARK(attention_f32)
    ->ArgNames({"seqlen", "heads", "head_dim", "causal", "rotation"})
    ->ArgsProduct({{512, 1024, 4096}, {2}, {64, 128}, {0, 1}, {plain, rope, roper}})
    ->Unit(benchmark::kMillisecond);

} // namespace
} // namespace gyre::bench
