/// Gradients of attention for warps that multiply tiles of matrices: WHAT is computed. No scheduling call may appear here.
///
///     P_ij  = exp(S_ij - lse_i)                      recomputed: no array of all scores exists
///     dS_ij = P_ij (<do_i, v_j> - delta_i)           delta_i = <o_i, do_i>
///     dq_i = scale sum_j dS_ij k_j      dk_j = scale sum_i dS_ij q_i      dv_j = sum_i P_ij do_i
///
/// Each of the three is a kernel of its own, whose tiles add up their rows in a fixed order: bits are always the same, nothing is added
/// to memory that others add to, and one accumulator leaves registers for heads of 128. What that costs is scores that are formed
/// three times, 8 products where a kernel that forms all gradients at once has 5.
///
///     of        rows   sees rows in      products of a block                    adds
///     queries   q, do  keys              S = q k^T,  dP = do v^T                dS k
///     keys      k, v   queries           S^T = k q^T, dP^T = v do^T             dS^T q
///     values    k      queries           S^T = k q^T                            P^T do
///
/// Tensors are as they were multiplied by the forward pass, rotated. P and dS are rounded to the tensors' type for the last product; sums
/// are in f32. What general kernels change of scores, and which probabilities are dropped: scores.h. A rotation's gradient is the reverse rotation, which the caller applies. Source: Dao, FlashAttention-2 (arXiv:2307.08691),
/// algorithm 2, with a pass for each gradient instead of atomic additions.
///
/// Index order is Halide's, innermost first. t: tile of rows, i: row of it; b: turn, j: column of its block.
#pragma once
#include "scores.h"
#include "tile.h"

namespace gyre::gradients {

enum class Of { queries, keys, values };

struct Sizes {
    Of of = Of::queries;
    int head_dim = 64;
    int rows = 64, block = 64; // of a tile; columns of a block
    int bytes = 2;             // of a number: tensor cores multiply those of 2, multiply-adds those of 4
    bool general = false;      // with a cap, ALiBi, a bias or dropout

    bool has_prob_grads() const { return of != Of::values; }
};

struct Inputs {
    Halide::Func row, row_partner;       // (d, h, token, z)  q and do, k and v, or k
    Halide::Func column, column_partner; // k and v, or q and do
    Halide::Func lse, delta;             // (token, h, z)  natural; of queries
    Sequences sequences;
    Halide::Expr out_stride; // of out's tokens
    Halide::Expr scale;
    Scoring scoring; // of general kernels
};

/// Every Func and Var that a schedule may name.
struct Stages {
    Sizes sizes;
    Halide::Var d{"d"}, h{"h"}, x{"x"}, z{"z"}, i{"i"}, t{"t"}, j{"j"}, b{"b"};
    Halide::RVar score_feature, score_tile, prob_feature, prob_tile; // of products over features
    Halide::RVar column, column_tile, seen_column, seen_tile;        // of the sum's two updates
    Halide::RVar masked_column, block;
    Tile tile;
    Halide::Func staged, partner_staged;   // (d, i, t, h, z)  rows in shared memory
    Halide::Func rows, partner_rows;       // in fragments
    Halide::Func row_power, row_delta;     // (i, t, h, z)  lse in units of log2(e), and delta; where rows are queries
    Halide::Func columns, partner_columns; // (d, j, b, t, h, z)  of a block
    Halide::Func column_lse, column_delta; // (j, b, t, h, z)  likewise, where columns are queries
    Halide::Func scores, prob_grads;       // (j, i, t, b, h, z)
    Halide::Func formed, weights;          // likewise: P or dS, 0 where masked, or masked_weight; and as stored
    Halide::Func flawed;   // (t, b, h, z)  1: some row does not see a column, and some number of these is not finite
    Halide::Func summed;   // (d, i, t, b, h, z)  of all turns so far
    Halide::Func state;    // (d, i, t, h, z)  {that, nothing}
    Halide::Func out_rows; // (d, i, t, h, z)
    Halide::Func out;      // (d, h, x, z)  the generator's own output, f32
    Halide::Var tile_loop; // of out's tiles, once it is scheduled

    /// Whose rows the sum adds up.
    const Halide::Func &added() const { return sizes.of == Of::values ? partner_columns : columns; }
};

Stages algorithm(const Inputs &in, const Sizes &sizes, const Halide::Func &out, const Halide::Type &type);

} // namespace gyre::gradients
