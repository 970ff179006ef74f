/// What gradients' kernels on devices write in place of a call's tensors: gradients in f32.
#pragma once
#include "cuda/rows/dense.h"

namespace gyre::cuda {

/// A gradient in f32, rotated, and the caller's tensor that it is stored into, rotated back.
class GradientRows {
public:
    /// Errors: UNSUPPORTED (no linked kernel stores it, or it is out of reach).
    gyre_status prepare(const gyre_context &context, const Heads &to, const Rotated &how, const char *name);

    size_t bytes() const;
    void place(char *memory) { rows.data = memory; }
    /// [batch, heads, seqlen, dim], dense.
    const Heads &view() const { return rows; }

    /// Queues what stores it.
    gyre_status store(gyre_context &context, const Scope &scope, gyre_context::Frequencies &cache) const;

private:
    Heads to, rows;
    Rotated rotated;
    const RotaryKernel *rotate_back = nullptr; // f32 to f32; NULL: it is not rotated, and of 16 bits
    const RotaryKernel *convert = nullptr;     // NULL: it is of f32
    const char *name = nullptr;

    gyre_status narrow(gyre_context &context, const Scope &scope) const;
};

} // namespace gyre::cuda
