// Compiled with -ffast-math, so that sums and tanh are vectorised: nothing here may rely on NaN or infinity.
#include "elementwise.h"

#include <algorithm>
#include <cmath>

namespace gyre::experiment {

void layer_norm(std::int64_t rows, std::int64_t width, const float *x, const float *gain, const float *bias, float *y,
                float *mean, float *inverse) {
    const float epsilon = 1e-5f, per_width = 1.0f / static_cast<float>(width);
    for (std::int64_t r = 0; r < rows; r++, x += width, y += width) {
        float sum = 0, squares = 0;
        for (std::int64_t i = 0; i < width; i++) sum += x[i];
        const float m = sum * per_width;
        for (std::int64_t i = 0; i < width; i++) squares += (x[i] - m) * (x[i] - m);
        const float s = 1.0f / std::sqrt(squares * per_width + epsilon);
        for (std::int64_t i = 0; i < width; i++) y[i] = (x[i] - m) * s * gain[i] + bias[i];
        mean[r] = m;
        inverse[r] = s;
    }
}

void layer_norm_gradient(std::int64_t rows, std::int64_t width, const float *x, const float *gain, const float *mean,
                         const float *inverse, const float *y_grad, float *x_grad, float *gain_grad, float *bias_grad) {
    const float per_width = 1.0f / static_cast<float>(width);
    for (std::int64_t r = 0; r < rows; r++, x += width, y_grad += width, x_grad += width) {
        const float m = mean[r], s = inverse[r];
        float sum = 0, product = 0; // of the normalised numbers' gradients, and these with the numbers
        for (std::int64_t i = 0; i < width; i++) {
            const float normal = (x[i] - m) * s, grad = y_grad[i] * gain[i];
            sum += grad;
            product += grad * normal;
            gain_grad[i] += y_grad[i] * normal;
            bias_grad[i] += y_grad[i];
        }
        sum *= per_width;
        product *= per_width;
        for (std::int64_t i = 0; i < width; i++)
            x_grad[i] += s * (y_grad[i] * gain[i] - sum - (x[i] - m) * s * product);
    }
}

void gelu(std::int64_t rows, std::int64_t width, const float *x, const float *bias, float *y, float *slope) {
    const float a = -2 * 0.7978845608f, b = 0.044715f;
    for (std::int64_t r = 0; r < rows; r++, x += width, y += width, slope += width)
        for (std::int64_t i = 0; i < width; i++) {
            const float v = x[i] + bias[i], square = v * v;
            // (1 + tanh(u)) / 2 is 1 / (1 + exp(-2 u)). Beyond the limit that is 0 in f32, and exp could become infinite.
            const float exponent = std::min(a * v * (1 + b * square), 85.0f);
            const float s = 1 / (1 + std::exp(exponent));
            slope[i] = s - v * s * (1 - s) * a * (1 + 3 * b * square);
            y[i] = v * s;
        }
}

void add(std::int64_t count, const float *x, float *y) {
    for (std::int64_t i = 0; i < count; i++) y[i] += x[i];
}

void multiply(std::int64_t count, const float *x, float *y) {
    for (std::int64_t i = 0; i < count; i++) y[i] *= x[i];
}

void add(std::int64_t rows, std::int64_t width, const float *x, const float *bias, float *y) {
    for (std::int64_t r = 0; r < rows; r++, x += width, y += width)
        for (std::int64_t i = 0; i < width; i++) y[i] += x[i] + bias[i];
}

float cross_entropy(std::int64_t width, std::int32_t target, float factor, float *logits) {
    float largest = logits[0], sum = 0;
    for (std::int64_t i = 1; i < width; i++) largest = std::max(largest, logits[i]);
    const float of_target = logits[target] - largest;
    for (std::int64_t i = 0; i < width; i++) {
        logits[i] = std::exp(logits[i] - largest);
        sum += logits[i];
    }
    for (std::int64_t i = 0; i < width; i++) logits[i] *= factor / sum;
    logits[target] -= factor;
    return std::log(sum) - of_target;
}

void adam(std::int64_t count, const AdamStep &s, const float *gradient, float *first, float *second, float *values) {
    for (std::int64_t i = 0; i < count; i++) {
        const float g = gradient[i] * s.gradient_factor;
        first[i] = s.beta1 * first[i] + (1 - s.beta1) * g;
        second[i] = s.beta2 * second[i] + (1 - s.beta2) * g * g;
        values[i] = values[i] * s.decay - s.rate * first[i] / (std::sqrt(second[i]) * s.second_deviation + s.epsilon);
    }
}

} // namespace gyre::experiment
