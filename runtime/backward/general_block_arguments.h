/// What the general family of attention's gradients is called with beyond the others' arguments.
#pragma once
#include "attention/call/bias.h"
#include "backward/call.h"
#include "core/argument_tables.h"

namespace gyre {

/// Bias and dropout of a block of rows and keys, and the part of the bias's gradient that the block adds to. It must outlive the call.
struct GeneralBlockArguments {
    BiasArguments bias;
    DropoutArguments dropout;
    int32_t key_sums = 1, row_sums = 1;
    Buffer bias_grad;

    GeneralBlockArguments(const BackwardCall &call, const Sequence &s, int64_t index, int64_t head, int64_t first_row,
                          int64_t rows, int64_t first_key, int64_t keys)
        : bias(call.forward.bias, s.batch, head, first_row, rows, first_key, keys),
          dropout(call.forward.dropout, index * call.forward.q.heads + head, first_row, first_key) {
        const BiasGradient &grad = call.bias_grad;
        if (!grad.data) {
            static float nothing;
            bias_grad.describe(&nothing, halide_type(GYRE_F32), {{0, 1}, {0, 0}});
            return;
        }
        const bool repeats_rows = grad.shape[2] == 1, repeats_keys = grad.shape[3] == 1;
        if (repeats_rows) row_sums = static_cast<int32_t>(rows);
        if (repeats_keys) key_sums = static_cast<int32_t>(keys);
        const int64_t element = s.batch * grad.strides[0] + head * grad.strides[1] + first_row * grad.strides[2] +
                                (repeats_keys ? 0 : first_key);
        bias_grad.describe(grad.data + element, halide_type(GYRE_F32),
                           {{repeats_keys ? 1 : keys, 1}, {repeats_rows ? 1 : rows, grad.strides[2]}});
    }

    void add_to(KernelArguments<BackwardArguments> *to) {
        using A = BackwardArguments;
        KernelArguments<A> &arguments = *to;
        bias.add_to(to);
        dropout.add_to(to);
        arguments[A::key_sums] = &key_sums;
        arguments[A::row_sums] = &row_sums;
        arguments[A::bias_grad] = &bias_grad;
    }
};

} // namespace gyre
