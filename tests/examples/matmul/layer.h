/// A linear layer with GELU on random numbers, and what it is in double.
#pragma once
#include <HalideRuntime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

/// A dense array as Halide describes it, innermost dimension first.
struct Buffer {
    halide_buffer_t buffer{};
    halide_dimension_t dims[2]{};

    template <typename T>
    Buffer(std::vector<T> &data, int inner, int outer = 0) {
        dims[0] = {0, inner, 1};
        dims[1] = {0, outer, inner};
        buffer.host = reinterpret_cast<uint8_t *>(data.data());
        buffer.type = sizeof(T) == 2 ? halide_type_t(halide_type_bfloat, 16) : halide_type_t(halide_type_float, 32);
        buffer.dimensions = outer > 0 ? 2 : 1;
        buffer.dim = dims;
    }
};

inline float widened(uint16_t bits) {
    const uint32_t word = static_cast<uint32_t>(bits) << 16;
    float number;
    std::memcpy(&number, &word, sizeof number);
    return number;
}

struct Layer {
    int M, N, K;
    std::vector<uint16_t> x, w, out; // bf16
    std::vector<float> bias;

    Layer(int M, int N, int K)
        : M(M), N(N), K(K), x(static_cast<size_t>(M) * K), w(static_cast<size_t>(N) * K),
          out(static_cast<size_t>(M) * N, 0x7fc0), bias(static_cast<size_t>(N)) {
        std::mt19937 random(static_cast<unsigned>(M + 1000 * N + 1000000 * K));
        std::uniform_real_distribution<float> numbers(-1, 1);
        const auto fill = [&](std::vector<uint16_t> &bits, float scale) {
            for (uint16_t &b : bits) {
                const float number = numbers(random) * scale;
                std::memcpy(&b, reinterpret_cast<const char *>(&number) + 2, sizeof b); // cut off to bf16
            }
        };
        fill(x, 1);
        fill(w, 2 / std::sqrt(static_cast<float>(K)));
        for (float &b : bias) b = numbers(random);
    }

    /// The largest error, as a part of what is allowed for its number:
    ///   sums      each of K + 1 additions in f32, and each product, loses at most 2^-23 of the sum of magnitudes: instructions may
    ///             round to odd, and bfmmla rounds products, too. gelu' is below 1.13
    ///   gelu      2e-7 (|z| + 1), of formula 7.1.26 and f32
    ///   rounding  2^-8 of the result, to bf16; instructions take 0 for subnormal numbers
    double worst_error() const {
        double worst = 0;
        for (int m = 0; m < M; m++)
            for (int n = 0; n < N; n++) {
                double z = bias[static_cast<size_t>(n)], magnitudes = std::abs(z);
                for (int k = 0; k < K; k++) {
                    const double product = static_cast<double>(widened(x[static_cast<size_t>(m) * K + k])) *
                                           widened(w[static_cast<size_t>(n) * K + k]);
                    z += product;
                    magnitudes += std::abs(product);
                }
                const double exact = 0.5 * z * std::erfc(-z / std::sqrt(2.0));
                const double allowed =
                    1.13 * (K + 2) * 0x1p-23 * magnitudes + 2e-7 * (std::abs(z) + 1) + 0x1p-8 * std::abs(exact);
                const double error = std::abs(widened(out[static_cast<size_t>(m) * N + n]) - exact);
                if (!(error <= worst * allowed)) worst = error / allowed; // also if it is a NaN
            }
        return worst;
    }
};
