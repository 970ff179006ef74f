/// Random numbers that are the same on every standard library: std::mt19937_64 is specified, its distributions are not.
#pragma once
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace gyre::test {

class Random {
public:
    explicit Random(uint64_t seed) : engine_(seed) {}

    /// A number in (0, 1).
    double uniform() { return ((double)(engine_() >> 11) + 0.5) / 9007199254740992.0; }

    /// A normal number of mean 0 and variance 1 (Box and Muller).
    double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::acos(-1.0) * uniform()); }

    int64_t integer(int64_t lowest, int64_t highest) {
        return lowest + (int64_t)(engine_() % (uint64_t)(highest - lowest + 1));
    }

    bool chance(double probability) { return uniform() < probability; }

    template <typename T>
    const T &pick(const std::vector<T> &from) {
        return from[(size_t)integer(0, (int64_t)from.size() - 1)];
    }

private:
    std::mt19937_64 engine_;
};

/// The first `count` normal numbers of Random(seed), times `scale`.
std::vector<double> normal_numbers(uint64_t seed, int64_t count, double scale = 1);

} // namespace gyre::test
