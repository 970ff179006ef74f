/// Storage types and the arithmetic type: every kernel computes in f32, whatever it reads and writes.
/// bf16 is converted by integer operations, because Halide 21 emulates its casts slowly on every CPU.
#pragma once
#include <Halide.h>

namespace gyre {

/// How conversions are written. Casts are for CUDA, where generators/passes/cuda prints them as the instructions that they are; of
/// x86's instruction see bf16_rounding.h.
enum class Bf16 { as_integers, as_casts, by_instruction };

/// The f32 value of a stored f32, f16 or bf16 element.
Halide::Expr widen(const Halide::Expr &stored, Bf16 bf16 = Bf16::as_integers);

/// `value` (f32) in the storage type, rounded to nearest even. A bf16 NaN stays a NaN.
Halide::Expr narrow(const Halide::Expr &value, const Halide::Type &type, Bf16 bf16 = Bf16::as_integers);

/// An element of a tensor whose type is known at run time alone, of those that it would be in each: kind 1: f32, 2: f16, 3: bf16,
/// whose bits are in `bits`.
Halide::Expr element_of_kind(const Halide::Expr &kind, const Halide::Expr &f32, const Halide::Expr &bits);

/// True for -inf as element_of_kind()'s arguments give it. Of integers alone: arithmetic is compiled as if there were no infinities.
Halide::Expr is_minus_infinity_of_kind(const Halide::Expr &kind, const Halide::Expr &f32, const Halide::Expr &bits);

} // namespace gyre
