/// What gradients' kernels on devices read and write in place of a call's tensors: operands rotated once, and gradients in f32.
#pragma once
#include "cuda/launch.h"
#include "cuda/token_angles.h"
#include "rotary/rotary_kernel.h"

namespace gyre::cuda {

/// Where the tokens of a tensor stand, and how it is rotated.
struct Rotated {
    Rotation by; // off, or on
    Positions positions;
    const char *rope = nullptr; // in messages
};

/// A tensor as kernels take it: as it is, or written into the workspace, because it is rotated or its rows are not aligned to 16
/// bytes.
class OperandRows {
public:
    /// `name`: in messages. Errors: UNSUPPORTED (no linked kernel writes it, or it is out of reach).
    gyre_status prepare(const gyre_context &context, const Heads &from, const Rotated &how, const char *name);

    size_t bytes() const;
    void place(char *memory);
    const Heads &view() const { return rows; }

    /// Queues what writes it. `cache`: of the rotation's frequencies.
    gyre_status fill(gyre_context &context, const Scope &scope, gyre_context::Frequencies &cache) const;

private:
    Heads from, rows; // rows: [batch, seqlen, heads, dim], dense, if they are written
    Rotated rotated;
    const RotaryKernel *kernel = nullptr; // NULL: it is read as it is
    const char *name = nullptr;
};

/// A gradient in f32, rotated, and the caller's tensor that it is stored into, rotated back.
class GradientRows {
public:
    /// Errors: UNSUPPORTED (no linked kernel stores it, or it is out of reach).
    gyre_status prepare(const gyre_context &context, const Heads &to, const Rotated &how, const char *name);

    size_t bytes() const;
    void place(char *memory) { rows.data = memory; }
    /// [batch, seqlen, heads, dim], dense.
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
