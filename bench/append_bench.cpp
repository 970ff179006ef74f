/// Appending keys and values to a cache: a prompt and a decode step, beside a copy of as many bytes.
#include "tensors.h"

#include <benchmark/benchmark.h>

#include <cstring>
#include <numeric>

namespace gyre::bench {
namespace {

constexpr std::int64_t heads = 8, head_dim = 128;
constexpr gyre_dtype f32 = GYRE_F32, f16 = GYRE_F16, bf16 = GYRE_BF16;

std::size_t size_of(gyre_dtype dtype) { return dtype == GYRE_F32 ? 4 : 2; }

/// f32, or in the first half of its memory bf16: the upper halves of as many f32.
std::vector<float> random_numbers(gyre_dtype dtype, std::int64_t count, std::uint32_t seed) {
    std::vector<float> numbers = random_floats(count, seed);
    auto *bytes = reinterpret_cast<char *>(numbers.data());
    for (std::size_t i = 0; dtype == GYRE_BF16 && i < numbers.size(); i++)
        std::memmove(bytes + 2 * i, bytes + 4 * i + 2, 2);
    return numbers;
}

enum Rotated { none, keys, both };

/// Appends `tokens` tokens to each sequence, into caches that hold none, or that end within a page.
void append_tokens(benchmark::State &state, gyre_dtype from, gyre_dtype to, Rotated rotated) {
    const std::int64_t sequences = state.range(0), tokens = state.range(1), page_size = state.range(2);
    const std::int64_t held = page_size / 2, pages = page_size ? (held + tokens + page_size - 1) / page_size : 0;
    const std::int64_t row = heads * head_dim, slots = page_size ? pages * page_size : tokens;
    const std::vector<float> k = random_numbers(from, sequences * tokens * row, 1),
                             v = random_numbers(from, sequences * tokens * row, 2);
    std::vector<float> k_cache(static_cast<std::size_t>(sequences * slots * row)), v_cache(k_cache.size());
    std::vector<std::int32_t> lengths(static_cast<std::size_t>(sequences), static_cast<std::int32_t>(held));
    std::vector<std::int32_t> table(static_cast<std::size_t>(sequences * pages));
    std::iota(table.rbegin(), table.rend(), 0);
    const gyre_tensor cache_seqlens = view(lengths, {sequences});
    const gyre_tensor page_table = view(table.data(), {sequences, pages});
    const Rope rope;
    CacheAppendArgs args;
    args.k = view(k.data(), from, {sequences, tokens, heads, head_dim});
    args.v = view(v.data(), from, {sequences, tokens, heads, head_dim});
    const Extents cache = {page_size ? sequences * pages : sequences, page_size ? page_size : tokens, heads, head_dim};
    args.k_cache = view(k_cache.data(), to, cache);
    args.v_cache = view(v_cache.data(), to, cache);
    args.cache_seqlens = &cache_seqlens;
    if (page_size) args.page_table = &page_table;
    if (rotated != none) args.rope = &rope;
    if (rotated == both) args.value_rope = &rope;
    for (auto _ : state) append(context(), args);
    state.SetBytesProcessed(state.iterations() * 2 * sequences * tokens * row *
                            static_cast<std::int64_t>(size_of(from) + size_of(to)));
    state.SetLabel(context().selected_kernel());
}

void prompts_and_steps(benchmark::internal::Benchmark *b) {
    b->ArgNames({"sequences", "tokens", "page_size"})->Unit(benchmark::kMicrosecond);
    for (const std::int64_t page_size : {0, 16}) b->Args({1, 4096, page_size})->Args({64, 1, page_size});
}
BENCHMARK_CAPTURE(append_tokens, f32_bf16_keys_rotated, f32, bf16, keys)->Apply(prompts_and_steps);
BENCHMARK_CAPTURE(append_tokens, f32_bf16_both_rotated, f32, bf16, both)->Apply(prompts_and_steps);
BENCHMARK_CAPTURE(append_tokens, f32_bf16_not_rotated, f32, bf16, none)->Apply(prompts_and_steps);
BENCHMARK_CAPTURE(append_tokens, f32_f16_keys_rotated, f32, f16, keys)->Apply(prompts_and_steps);
BENCHMARK_CAPTURE(append_tokens, bf16_bf16_keys_rotated, bf16, bf16, keys)->Apply(prompts_and_steps);
BENCHMARK_CAPTURE(append_tokens, bf16_bf16_not_rotated, bf16, bf16, none)->Apply(prompts_and_steps);

/// What a copy would take: of bytes that are read and written.
void copy(benchmark::State &state) {
    const auto bytes = static_cast<std::size_t>(state.range(0));
    std::vector<char> from(bytes, 1), to(bytes);
    for (auto _ : state) {
        std::memcpy(to.data(), from.data(), bytes);
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(2 * bytes));
}
// The copies move as many bytes as the prompt and the step above: 3 bytes a feature are the mean of what is read and written from f32 to bf16.
BENCHMARK(copy)
    ->ArgNames({"bytes"})
    ->Args({2 * 4096 * heads * head_dim * 3})
    ->Args({2 * 64 * heads * head_dim * 3})
    ->Unit(benchmark::kMicrosecond);

} // namespace
} // namespace gyre::bench
