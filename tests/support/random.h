/// Random numbers that are the same on every standard library: std::mt19937_64 is specified, its distributions are not.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

namespace gyre::test {

class Random {
public:
    explicit Random(uint64_t seed) : engine_(seed) {}

    /// A number in (0, 1).
    double uniform() { return ((double)(engine_() >> 11) + 0.5) / 9007199254740992.0; }

    /// A number of mean 0 and variance 1 that is normal but for its tails: the sum of eight uniform ones of 16 bits, between -4.9 and
    /// 4.9. The logarithm and cosine of an exact one took a tenth of the tests' time.
    double normal() {
        constexpr uint64_t low_halves = 0x0000ffff0000ffff;
        const uint64_t first = engine_(), second = engine_();
        const uint64_t two =
            (first & low_halves) + (first >> 16 & low_halves) + (second & low_halves) + (second >> 16 & low_halves);
        constexpr double mean = 8 * 65535 / 2.0, per_deviation = 1.2247448713915890 / 65536;
        return ((double)((two & 0xffffffff) + (two >> 32)) - mean) * per_deviation;
    }

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

/// Returns the first `count` normal numbers of Random(seed) in memory that holds them until the next call in this thread.
const double *kept_normal_numbers(uint64_t seed, int64_t count);

} // namespace gyre::test
