#include "random.h"

#include <map>

namespace gyre::test {
namespace {

/// A seed's first numbers, and what gives the next.
struct Series {
    Random random;
    std::vector<double> numbers;
};

/// Tests take the same few seeds again and again, and making numbers costs more than most kernels: they are kept.
std::map<uint64_t, Series> &kept(size_t wanted) {
    thread_local std::map<uint64_t, Series> series;
    constexpr size_t limit = size_t{1} << 22;
    size_t count = wanted;
    for (const auto &[seed, s] : series) count += s.numbers.size();
    if (count > limit) series.clear();
    return series;
}

} // namespace

const double *kept_normal_numbers(uint64_t seed, int64_t count) {
    Series &series = kept((size_t)count).try_emplace(seed, Series{Random(seed), {}}).first->second;
    const size_t there = series.numbers.size();
    if (there < (size_t)count) series.numbers.resize((size_t)count);
    for (size_t i = there; i < (size_t)count; i++) series.numbers[i] = series.random.normal();
    return series.numbers.data();
}

std::vector<double> normal_numbers(uint64_t seed, int64_t count, double scale) {
    const double *const kept = kept_normal_numbers(seed, count);
    std::vector<double> numbers(kept, kept + count);
    for (double &number : numbers) number *= scale;
    return numbers;
}

} // namespace gyre::test
