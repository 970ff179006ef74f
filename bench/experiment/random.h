/// Random numbers that are the same for a seed on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <random>

namespace gyre::experiment {

class Random {
public:
    /// What the numbers belong to, such as {seed, step}: different lists give independent numbers.
    Random(std::initializer_list<std::uint32_t> of) {
        std::seed_seq sequence(of);
        engine_.seed(sequence);
    }

    /// A number in [0, n).
    std::int32_t below(std::int32_t n) { return static_cast<std::int32_t>(uniform() * n); }
    /// A number in [first, last].
    std::int32_t between(std::int32_t first, std::int32_t last) { return first + below(last - first + 1); }
    /// A number in [0, 1), of 53 bits.
    double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
    /// Mean 0, deviation 1. Source: Box and Muller, 1958.
    double normal() {
        const double two_pi = 6.283185307179586;
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(two_pi * uniform());
    }

private:
    std::mt19937_64 engine_;
};

} // namespace gyre::experiment
