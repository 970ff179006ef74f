/// What a transformer does beside products and attention, on rows of f32 numbers in C order: loops that the C++ compiler
/// vectorises.
#pragma once

#include <cstdint>

namespace gyre::experiment {

/// y = (x - mean) / sqrt(variance + 1e-5) * gain + bias for every row.   x, y [rows, width]
/// mean, inverse [rows]: kept for the gradients
void layer_norm(std::int64_t rows, std::int64_t width, const float *x, const float *gain, const float *bias, float *y,
                float *mean, float *inverse);

/// x_grad, gain_grad and bias_grad are added to.
void layer_norm_gradient(std::int64_t rows, std::int64_t width, const float *x, const float *gain, const float *mean,
                         const float *inverse, const float *y_grad, float *x_grad, float *gain_grad, float *bias_grad);

/// y = v / 2 (1 + tanh(sqrt(2 / pi) (v + 0.044715 v^3))) for v = x + bias, and its slope at v.
/// x, y, slope [rows, width]; x may be y.
/// Source: Hendrycks and Gimpel, arXiv:1606.08415.
void gelu(std::int64_t rows, std::int64_t width, const float *x, const float *bias, float *y, float *slope);

/// y += x, y *= x;   y += x + bias on rows
void add(std::int64_t count, const float *x, float *y);
void multiply(std::int64_t count, const float *x, float *y);
void add(std::int64_t rows, std::int64_t width, const float *x, const float *bias, float *y);

/// The cross-entropy of softmax(logits) and `target`; `factor` times its gradient comes in place of the logits.
float cross_entropy(std::int64_t width, std::int32_t target, float factor, float *logits);

/// AdamW: decoupled weight decay. Source: Loshchilov and Hutter, arXiv:1711.05101.
struct AdamStep {
    float gradient_factor; // of clipping
    float decay;           // what is left of the weights
    float beta1, beta2;
    float rate;             // over 1 - beta1^t
    float second_deviation; // 1 / sqrt(1 - beta2^t)
    float epsilon;
};
void adam(std::int64_t count, const AdamStep &step, const float *gradient, float *first, float *second, float *values);

} // namespace gyre::experiment
