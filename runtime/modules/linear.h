/// y = x W^T + b and its gradients, by the BLAS. W is [out, in] in C order; rows of x and y are tokens, as far apart as
/// strides say.
#pragma once

#include <cstdint>

namespace gyre::modules {

struct Rows {
    float *data;
    std::int64_t stride; // elements from one token to the next
};
struct ConstRows {
    const float *data;
    std::int64_t stride;
    ConstRows(const float *data, std::int64_t stride) : data(data), stride(stride) {}
    ConstRows(const Rows &rows) : data(rows.data), stride(rows.stride) {}
};

struct LinearSizes {
    std::int64_t tokens, in, out;
};

/// y = x W^T + b.   bias: [out] or nullptr
void linear(const LinearSizes &sizes, ConstRows x, const float *weight, const float *bias, Rows y);

/// x_grad = y_grad W, or added to what is there.
void linear_input_gradient(const LinearSizes &sizes, ConstRows y_grad, const float *weight, Rows x_grad, bool add);

/// weight_grad += y_grad^T x, bias_grad += the sum of y_grad's rows.   bias_grad: nullptr if there is no bias
void linear_weight_gradient(const LinearSizes &sizes, ConstRows x, ConstRows y_grad, float *weight_grad,
                            float *bias_grad);

/// Lets the BLAS run on this many threads, where it can be told (OpenBLAS); else its own environment variables count.
void set_blas_threads(int threads);

} // namespace gyre::modules
