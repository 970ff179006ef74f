/// Loops of the training experiment beside the same in double, also at numbers so large or small that f32 gives up.
#include "support/doctest.h"

#include "elementwise.h"
#include "random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace gyre::experiment;

namespace {

constexpr std::int64_t rows = 7, width = 37; // no multiple of a vector

std::vector<float> random_numbers(std::uint32_t seed, std::int64_t count, double deviation = 1) {
    Random random({seed});
    std::vector<float> x(static_cast<std::size_t>(count));
    for (float &value : x) value = static_cast<float>(deviation * random.normal());
    return x;
}

/// NaN is as far away as can be.
double distance(double got, double expected) {
    const double error = std::fabs(got - expected);
    return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

} // namespace

TEST_CASE("gelu and its slope, for small and enormous numbers") {
    std::vector<float> x = random_numbers(1, rows * width, 3), bias = random_numbers(2, width);
    const float extremes[] = {0, -0.0f, 1e-30f, -1e-30f, 5, -5, 10, -10, 20, -20, 100, -100, 1e4f, -1e4f, 1e8f, -1e8f};
    for (int turn = 0; turn < 2; turn++) { // within a vector, and in what is left of a row
        std::copy(std::begin(extremes), std::end(extremes), x.begin() + (turn ? width - 20 : 0));
        std::vector<float> y(x.size()), slope(x.size());
        gelu(rows, width, x.data(), bias.data(), y.data(), slope.data());
        for (std::size_t i = 0; i < x.size(); i++) {
            const double v = static_cast<double>(x[i] + bias[i % width]), a = std::sqrt(2 / 3.141592653589793);
            const double t = std::tanh(a * (v + 0.044715 * v * v * v));
            const double expected_slope = 0.5 * (1 + t) + 0.5 * v * (1 - t * t) * a * (1 + 3 * 0.044715 * v * v);
            CAPTURE(v);
            CHECK(distance(y[i], 0.5 * v * (1 + t)) <= 1e-6 * std::max(1.0, std::fabs(v)));
            CHECK(distance(slope[i], std::fabs(v) > 1e3 ? (v > 0 ? 1 : 0) : expected_slope) <= 3e-6);
        }
    }
}

TEST_CASE("layer norm, of large, constant and shifted rows, too") {
    for (double deviation : {1.0, 1e-6, 1e4}) {
        std::vector<float> x = random_numbers(3, rows * width, deviation);
        std::fill_n(x.begin(), width, 3.0f); // without deviation
        const std::vector<float> gain = random_numbers(4, width), bias = random_numbers(5, width);
        std::vector<float> y(x.size()), mean(rows), inverse(rows);
        layer_norm(rows, width, x.data(), gain.data(), bias.data(), y.data(), mean.data(), inverse.data());
        for (std::int64_t r = 0; r < rows; r++) {
            const float *row = &x[static_cast<std::size_t>(r * width)];
            double m = 0, squares = 0;
            for (std::int64_t i = 0; i < width; i++) m += row[i] / static_cast<double>(width);
            for (std::int64_t i = 0; i < width; i++) squares += (row[i] - m) * (row[i] - m) / width;
            for (std::int64_t i = 0; i < width; i++) {
                const auto at = static_cast<std::size_t>(i);
                const double expected = (row[i] - m) / std::sqrt(squares + 1e-5) * gain[at] + bias[at];
                CHECK(distance(y[static_cast<std::size_t>(r * width + i)], expected) <= 1e-5);
            }
        }
    }
}

TEST_CASE("cross-entropy and its gradient") {
    for (double deviation : {1.0, 1e3}) {
        std::vector<float> logits = random_numbers(6, width, deviation);
        const std::vector<float> given = logits;
        const std::int32_t target = 5;
        const float loss = cross_entropy(width, target, 0.5f, logits.data());
        const double largest = *std::max_element(given.begin(), given.end());
        double sum = 0;
        for (float x : given) sum += std::exp(x - largest);
        CHECK(distance(loss, std::log(sum) + largest - given[5]) <= 1e-6 * std::max(1.0, deviation));
        for (std::int64_t i = 0; i < width; i++) {
            const double p = std::exp(given[static_cast<std::size_t>(i)] - largest) / sum;
            CHECK(distance(logits[static_cast<std::size_t>(i)], 0.5 * (p - (i == target))) <= 1e-6);
        }
    }
}

TEST_CASE("AdamW, with gradients that are 0 or hardly more") {
    const AdamStep step{0.5f, 0.999f, 0.9f, 0.98f, 0.01f, 1.5f, 1e-8f};
    std::vector<float> gradient = random_numbers(7, width), values = random_numbers(8, width);
    gradient[0] = gradient[36] = 0;
    gradient[1] = 1e-18f;
    gradient[2] = 1e-21f;
    gradient[3] = -1e15f;
    std::vector<float> first(width), second(width);
    const std::vector<float> before = values;
    adam(width, step, gradient.data(), first.data(), second.data(), values.data());
    for (std::size_t i = 0; i < width; i++) {
        const double g = 0.5 * static_cast<double>(gradient[i]), m = 0.1 * g, v = 0.02 * g * g;
        const double expected = before[i] * 0.999 - 0.01 * m / (std::sqrt(v) * 1.5 + 1e-8);
        CAPTURE(gradient[i]);
        CHECK(distance(first[i], m) <= 1e-5 * std::fabs(m));
        CHECK(distance(values[i], expected) <= 2e-6);
    }
}
