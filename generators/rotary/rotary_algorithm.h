/// Rotary position embedding: WHAT is computed. No scheduling call may appear here.
///
///     out[p] = x[p] cos_i - d x[q] sin_i        out[q] = x[q] cos_i + d x[p] sin_i
///
/// for pair i of the window [offset, offset + 2 pairs) of a head; features outside are copied, or left alone in place.
/// x and out may be of different types: everything is then converted, what is copied too. No pairs: a copy.
///     half         p = i,  q = i + pairs     ccccssss       (NeoX, Llama)
///     interleaved  p = 2i, q = 2i + 1        cscscscs       (RoFormer, GPT-J)
/// Numbers of 16 bits with tables of 16 bits are in Q15, units of 2^-15: products in 32 bits, rounded to nearest, saturated.
/// Source: Su et al., RoFormer (arXiv:2104.09864), section 3.2.2; reverse, d = -1: Harik and Jayasiri, RoPER.
/// Index order is Halide's, innermost first. The dimensions a and b are tokens and heads, whichever is denser in memory
/// first: the angles' tables repeat along heads by a stride of 0. On CUDA there is a third, c, of batch entries.
#pragma once
#include "../math/storage.h"

#include <Halide.h>

#include <functional>

namespace gyre::rotary {

enum class Pairing { half, interleaved };

struct Inputs {
    Halide::Func x;                   // (d, a, b[, c])  as stored, of any storage type
    Halide::Func cos, sin;            // (i, a, b[, c])  f32, or Q15 as x is
    Halide::Expr offset, pairs;       // the window, in features and pairs
    Halide::Expr direction;           // f32, +1: rotate, -1: rotate back
    Halide::Expr whole;               // pairs [whole, pairs) are an update of their own; undefined: there are none
    Halide::Expr copied_before;       // features [0, copied_before) are copied
    Halide::Expr after, copied_after; // features [after, after + copied_after) are copied
    Halide::Expr whole_copied;        // of the latter, those after so many by an update of their own; undefined: none
    Bf16 bf16 = Bf16::as_integers;    // how conversions are written
    /// What update n of out stores for a value, if not that: where an element goes is then up to it.
    std::function<Halide::Expr(const Halide::Expr &value, int n)> place = nullptr;
};

/// Every Func and Var that a schedule may name.
struct Stages {
    Halide::Var d{"d"}, a{"a"}, b{"b"}, c{"c"}, i{"i"};
    Halide::RVar before, after, parity, pair, rest_parity, rest_pair;
    Halide::Func rotated; // (i, a, b)  {first, second} of a pair, formed before either is stored: out may be x
    Halide::Func rest;    // (i, a, b)  the same for the pairs from `whole` on
    Halide::Func out;     // (d, a, b)  the generator's own output
};

/// `type`: of out.
Stages algorithm(const Inputs &in, Pairing pairing, const Halide::Func &out, const Halide::Type &type);

} // namespace gyre::rotary
