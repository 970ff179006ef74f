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

std::vector<double> normal_numbers(uint64_t seed, int64_t count, double scale) {
    Series &series = kept((size_t)count).try_emplace(seed, Series{Random(seed), {}}).first->second;
    while ((int64_t)series.numbers.size() < count) series.numbers.push_back(series.random.normal());
    std::vector<double> numbers(series.numbers.begin(), series.numbers.begin() + count);
    for (double &number : numbers) number *= scale;
    return numbers;
}

} // namespace gyre::test
