/// What the benchmarks share: a context of one thread, and memory filled with random numbers.
#pragma once
#include <gyre/gyre.hpp>

#include <cstdint>
#include <random>
#include <vector>

namespace gyre::bench {

/// One thread: what is compared is the kernels and the call, not the machine's load.
inline Context &context() {
    static Context one_thread([] {
        ContextOptions options;
        options.threads = 1;
        return options;
    }());
    return one_thread;
}

/// [-1, 1)
inline std::vector<float> random_floats(std::int64_t count, std::uint32_t seed) {
    std::minstd_rand generator(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> numbers(static_cast<std::size_t>(count));
    for (float &number : numbers) number = uniform(generator);
    return numbers;
}

} // namespace gyre::bench
