/// Threads of a context's own beside a program's OpenMP threads (`parallel_for`), and both right after an OpenMP loop of the program, whose
/// threads then keep their processors for a while.
///
///     gyre_bench --benchmark_filter=pool --benchmark_enable_random_interleaving=true --benchmark_repetitions=20
#include "tensors.h"

#include <benchmark/benchmark.h>

#include <omp.h>

#include <algorithm>

namespace gyre::bench {
namespace {

enum Pool { one_thread, own, openmp };

void run_in_openmp(void *, std::int32_t count, void (*task)(void *state, std::int32_t index), void *state) {
#pragma omp parallel for num_threads(count) schedule(static, 1)
    for (std::int32_t i = 0; i < count; i++) task(state, i);
}

ContextOptions options_of(Pool pool) {
    ContextOptions options;
    options.threads = pool == one_thread ? 1 : omp_get_max_threads();
    if (pool == openmp) options.parallel_for = run_in_openmp;
    return options;
}

void pool(benchmark::State &state) {
    const std::int64_t heads = state.range(0), kv_heads = state.range(1), queries = state.range(2),
                       keys = state.range(3), head_dim = state.range(4);
    const bool after_loop = state.range(6) != 0;
    const Context context(options_of(static_cast<Pool>(state.range(5))));
    const Extents q_shape = {1, heads, queries, head_dim}, k_shape = {1, kv_heads, keys, head_dim};
    std::vector<float> q = random_floats(q_shape.product(), 1), k = random_floats(k_shape.product(), 2);
    std::vector<float> v = random_floats(k_shape.product(), 3), out(q.size());
    AttentionArgs args;
    args.layout = GYRE_BHSD;
    args.q = view(q, q_shape);
    args.k = view(k, k_shape);
    args.v = view(v, k_shape);
    args.out = view(out, q_shape);
    const auto loop_of_program = [&] {
#pragma omp parallel
        benchmark::ClobberMemory();
    };
    for (auto _ : state) {
        if (after_loop) loop_of_program();
        attention(context, args);
    }
    state.SetLabel(context.selected_kernel());
}

void calls_and_pools(benchmark::internal::Benchmark *b) {
    b->ArgNames({"heads", "kv_heads", "queries", "keys", "head_dim", "pool", "after_loop"})
        ->Unit(benchmark::kMicrosecond)
        ->UseRealTime();
    b->ComputeStatistics("min", [](const std::vector<double> &v) { return *std::min_element(v.begin(), v.end()); });
    for (const std::vector<std::int64_t> &call : {std::vector<std::int64_t>{12, 12, 1, 512, 64},
                                                  {32, 8, 1, 2048, 128},
                                                  {12, 12, 128, 128, 64},
                                                  {12, 12, 512, 512, 64}})
        for (const std::int64_t pool : {one_thread, own, openmp})
            for (const std::int64_t after_loop : {0, 1}) {
                std::vector<std::int64_t> all = call;
                all.insert(all.end(), {pool, after_loop});
                b->Args(all);
            }
}
BENCHMARK(pool)->Apply(calls_and_pools);

} // namespace
} // namespace gyre::bench
