/// Which probabilities of attention are dropped: the same wherever a kernel asks, since it follows from where a probability
/// stands. include/gyre/attention.h has the definition for users.
///     key j of row i is dropped if word j % 4 of philox(counter {j / 4, i, b * num_heads + h, offset}, key seed) < threshold
#pragma once
#include <Halide.h>

#include <array>

namespace gyre {

/// What kernels are told, as scalars: of the head that they compute, or the first one.
struct Dropout {
    Halide::Expr threshold;           // u32: probability * 2^32; 0: nothing is dropped
    Halide::Expr keep_scale;          // f32: 1 / (1 - probability)
    Halide::Expr seed_low, seed_high; // u32
    Halide::Expr offset;              // u32
    Halide::Expr head;                // i32: b * num_heads + h
    Halide::Expr first_row;           // i32: the sequence's row that is row 0 here
    Halide::Expr first_key;           // i32: likewise, a multiple of 4
};

constexpr int keys_of_draw = 4;

/// The random words of keys 4 group … 4 group + 3 for a row of the head that is so many after the one that kernels are told.
std::array<Halide::Expr, 4> dropout_words(const Dropout &dropout, const Halide::Expr &row, const Halide::Expr &group,
                                          const Halide::Expr &head = 0);

} // namespace gyre
