#include "linear.h"

#include <cblas.h>

#include <algorithm>
#include <vector>

namespace gyre::modules {
namespace {

int dimension(std::int64_t n) { return static_cast<int>(n); } // what the BLAS counts in; callers keep below 2^31

bool empty(const LinearSizes &s) { return s.tokens == 0 || s.in == 0 || s.out == 0; }

} // namespace

void linear(const LinearSizes &s, ConstRows x, const float *weight, const float *bias, Rows y) {
    if (bias) // y begins as the bias, which the product is added to
        for (std::int64_t t = 0; t < s.tokens; t++) std::copy_n(bias, s.out, y.data + t * y.stride);
    if (empty(s)) return;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, dimension(s.tokens), dimension(s.out), dimension(s.in), 1.0f,
                x.data, dimension(x.stride), weight, dimension(s.in), bias ? 1.0f : 0.0f, y.data, dimension(y.stride));
}

void linear_input_gradient(const LinearSizes &s, ConstRows y_grad, const float *weight, Rows x_grad, bool add) {
    if (empty(s)) return;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, dimension(s.tokens), dimension(s.in), dimension(s.out), 1.0f,
                y_grad.data, dimension(y_grad.stride), weight, dimension(s.in), add ? 1.0f : 0.0f, x_grad.data,
                dimension(x_grad.stride));
}

void linear_weight_gradient(const LinearSizes &s, ConstRows x, ConstRows y_grad, float *weight_grad, float *bias_grad) {
    if (empty(s)) return;
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, dimension(s.out), dimension(s.in), dimension(s.tokens), 1.0f,
                y_grad.data, dimension(y_grad.stride), x.data, dimension(x.stride), 1.0f, weight_grad, dimension(s.in));
    if (!bias_grad) return;
    for (std::int64_t t = 0; t < s.tokens; t++)
        cblas_saxpy(dimension(s.out), 1.0f, y_grad.data + t * y_grad.stride, 1, bias_grad, 1);
}

#if defined(GYRE_OPENBLAS)
void set_blas_threads(int threads) { openblas_set_num_threads(threads); }
#else
void set_blas_threads(int) {}
#endif

} // namespace gyre::modules
