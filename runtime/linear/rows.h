/// What is done with rows of a chunk of tokens: the calls of linear attention's kernels.
///
/// Rows are in f32 and padded with zeros to a multiple of what kernels take at once, and by a cache line, since at powers of two
/// equal features of all rows would share a few sets of the L1 cache.
#pragma once
#include "linear/kernels.h"

namespace gyre {

/// Rows in workspace, in the order in which they are to be read: tokens, or with a negative stride against it.
struct Rows {
    float *first = nullptr;
    int64_t stride = 0; // floats; 0: one row serves all
};

/// Numbers of rows, likewise.
struct RowNumbers {
    float *first = nullptr;
    int64_t stride = 1;
};

/// Tokens of one head of a tensor.
struct HeadRows {
    const Heads &heads;
    int64_t batch, token, head;
};

class RowKernels {
public:
    RowKernels(const LinearKernels &kernels, int64_t features, char *scratch)
        : kernels(kernels), features_(features), scratch(scratch) {}

    static int64_t stride(int64_t features) { return features + 16; }
    int64_t features() const { return features_; }
    int64_t stride() const { return stride(features_); }

    // Each returns false if a kernel failed. Rows of tensors and of these are in the order of tokens.
    bool load(const HeadRows &from, int64_t count, float *rows) const;
    bool store(const float *rows, int64_t count, const HeadRows &to) const;
    /// phi of a tensor's rows.
    bool map(const HeadRows &from, int64_t count, float *rows) const;
    /// Turns rows by the angles of a table's rows, +1 or back; may be in place.
    bool rotate(const float *from, float *to, int64_t count, int64_t dim, const Rotation &rotation, const float *angles,
                float direction) const;
    /// to = phi'(x) (product - weight sums)
    bool store_gradient(const HeadRows &x, const float *product, RowNumbers weight, Rows sums, int64_t count,
                        const HeadRows &to) const;
    /// product = <a, b>, to = x / product, in the tensor's type.
    bool divide(Rows a, Rows b, Rows x, int64_t count, float *product, const HeadRows &to) const;

    // The rest in any order.
    /// product = <a, b>, to = x / product, of so many features.
    bool divide(Rows a, Rows b, Rows x, int64_t features, int64_t count, float *product, Rows to) const;
    /// to_i = before + sum over j <= i of weight_j x_j
    bool sum(Rows x, RowNumbers weight, Rows before, int64_t count, Rows to) const;
    /// Forms panels of as many rows as whole panels have.
    bool form_panels(Rows rows, int64_t count, float *panels) const;
    /// to_i += sum over j <= i of <q_i, k_j> v_j + q_i state, either if it is given. Rows in whole tiles.
    bool attend(Rows q, const float *panels, Rows v, const float *state, int64_t count, Rows to) const;
    /// state += sum of k_j v_j^T
    bool add(Rows k, Rows v, int64_t count, float *state) const;

private:
    const LinearKernels &kernels;
    const int64_t features_;
    char *const scratch;
};

} // namespace gyre
