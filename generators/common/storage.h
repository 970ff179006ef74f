/// Storage types and the arithmetic type: every kernel computes in f32, whatever it reads and writes.
/// bf16 is converted by integer operations, because Halide 21 emulates its casts slowly on every target.
#pragma once
#include <Halide.h>

namespace gyre {

/// The f32 value of a stored f32, f16 or bf16 element.
Halide::Expr widen(const Halide::Expr &stored);

/// `value` (f32) in the storage type, rounded to nearest even. A bf16 NaN stays a NaN. bf16_instruction: see bf16_rounding.h.
Halide::Expr narrow(const Halide::Expr &value, const Halide::Type &type, bool bf16_instruction = false);

} // namespace gyre
