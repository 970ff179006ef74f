/// A linear layer with GELU, on bf16 numbers: WHAT is computed. No scheduling call may appear here.
///
///     out(n, m) = gelu(sum_k x(k, m) w(k, n) + bias(n))        gelu(z) = z Phi(z), Phi the normal distribution
///
/// Index order is Halide's, innermost first: x is the C array x[M][K] and w is w[N][K], as PyTorch has a layer's weights.
/// Both operands are put into panels first, in the order in which an engine reads them; beyond the edges of x and w panels hold 0, so
/// every size goes.
#pragma once
#include <Halide.h>
#include <math/transpose.h>

namespace matmul {

/// What multiplies. One panel of x has `rows` rows, one of w `columns` columns.
enum class Engine {
    vectors,  // multiply-add of f32 numbers
    pairs,    // vdpbf16ps: passes/instructions/bf16_dot.h
    matrices, // bfmmla: passes/instructions/bf16_matrices.h
    tiles,    // AMX: passes/instructions/tile_products.h
};

struct Inputs {
    Halide::Func x, w, bias; // (k, m) bf16, (k, n) bf16, (n) f32
    Halide::Expr K, M, N;
};

struct Sizes {
    Engine engine;
    int rows, columns, lanes; // lanes: f32 numbers in a vector
};

/// Every Func and Var that a schedule may name.
struct Stages {
    Sizes sizes{};
    Halide::Var n{"n"}, m{"m"}, c{"c"}, chunk{"chunk"}, r{"r"}, mt{"mt"}, nt{"nt"}; // of panels
    Halide::Var f{"f"}, y{"y"}, p{"p"}, g{"g"}, lane{"lane"};                       // of matrices
    gyre::Transpose w_lanes; // (n, c, nt): w's pairs, put along the lanes
    Halide::Func x_panel,
        w_panel; // vectors, pairs, tiles: (c, r, chunk, mt), (n, c, nt); matrices: (f, y, p, c, mt), (f, y, g, c, nt)
    Halide::Func sums;        // (n, r, mt, nt); matrices: (lane, p, g, mt, nt)
    Halide::RVar k, of_chunk; // pairs or numbers of a chunk, chunks; of matrices: numbers, matrices
    Halide::Func block;       // (n, r, mt, nt): sums, in rows
    Halide::Func out;         // the generator's own output
};

constexpr int chunk_numbers = 32; // along k, of x's panels: 64 bytes of bf16

Stages algorithm(const Inputs &in, const Sizes &sizes, const Halide::Func &out);

/// gelu(z) for |z| < 2^60, absolute error below 2e-7 (|z| + 1). `power` is 2^x for x <= 0.
Halide::Expr gelu(const Halide::Expr &z, Halide::Expr (*power)(const Halide::Expr &x));

} // namespace matmul
