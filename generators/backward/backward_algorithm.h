/// Gradients of attention for one block of keys and one block of query rows of a head: WHAT is computed. No scheduling call
/// may appear here.
///
///     P_ij  = exp(S_ij - lse_i)                      recomputed: no array of all scores exists
///     dS_ij = P_ij (<do_i, v_j> - delta_i)           delta_i = <o_i, do_i>
///     dq_i += scale sum_j dS_ij k_j      dk_j += scale sum_i dS_ij q_i      dv_j += sum_i P_ij do_i
///
/// S as attention has it: scale <q_i, k_j>, capped (dS then takes the cap's slope, 1 - (S / cap)^2), plus ALiBi; P is 0 where
/// a key is masked. The general family also adds a bias to S, whose gradient is dS before cap and scale, summed over what the
/// bias is repeated for, and drops probabilities: with D_ij 0 or 1 / (1 - probability), <do_i, v_j> becomes D_ij <do_i, v_j>,
/// and dv_j sums D_ij P_ij do_i. Everything has been rotated: a rotation's gradient is the reverse rotation, which the caller
/// applies to the sums. Source: Dao et al., FlashAttention (arXiv:2205.14135), algorithm 4, with keys in the outer loop.
///
/// Scores are formed as the forward pass on vectors forms them, the scale in the queries and products in the order of features,
/// so that roundings of large scores do not part P from the forward pass's. Where that pass multiplies on matrix tiles, it cannot be
/// matched, and errors of both passes count: scores are then sums of a few sums, whose roundings are smaller, and rows of large scores
/// are divided by what their weights come to, which totals_algorithm() finds before (runtime/backward/runner_totals.cpp).
///
/// A masked key has weight 0, and neither its key nor its value reaches a gradient, nor does a row reach those of keys that it does not
/// see: in a block that is not seen whole, and in which something is not finite, sums take 0 in place of what a weight of 0 multiplies.
///
/// Keys run along the lanes of the two products over features, for which keys and values are in panels of `lanes` neighbours;
/// features along those of the three sums, whose other factors, P and dS, are scalars. So nothing is transposed here, and no
/// reduction crosses lanes. All numbers are f32, whatever the tensors' type.
///
/// Index order is Halide's, innermost first.   d: feature;  row i = t * tile + y;  key j = u * tile + x = p * lanes + l.
#pragma once
#include "../common/dropout.h"

#include <Halide.h>

namespace gyre::backward {

/// Sizes that the code is specialised for.
struct Sizes {
    int rows = 96;        // of a block
    int keys = 96;        // of a block
    int tile = 12;        // rows, or keys, of a register tile; divides both
    int key_lanes = 32;   // keys of a panel, of a register tile of the scores; divides `keys`
    int features = 32;    // of a register tile of the sums; divides the number of features
    int summed_apart = 0; // features whose products a score sums apart, a divisor of `features`; 0: one after another
    bool guards_apart = false; // guarded sums are added by themselves
    int edge_lanes =
        0; // keys that are masked at once, a divisor of `keys`; loops end with the call's rows, too; 0: of a whole block
    bool capped = false;  // scores are capped
    bool general = false; // they may be capped and have a bias, and probabilities may be dropped

    /// AVX2 without AVX-512.
    bool of_avx2() const { return guards_apart; }
};

/// Features of a row, at most.
constexpr int most_features = 512;

/// What a kernel reads. Blocks are whole: rows and keys past the end hold finite numbers.
struct Inputs {
    Halide::Func q, out_grad;            // (d, y, t)  rotated
    Halide::Func k;                      // (d, x, u)  rotated
    Halide::Func k_panels, v_panels;     // (l, d, p)  rotated
    Halide::Func lse, delta;             // (y, t)     lse in units of log2(e)
    Halide::Expr rows, keys, features;   // that there are; `features` a multiple of Sizes::features
    Halide::Expr k_features, v_features; // of these, products of q and k, and of v, take so many; 0 is behind them
    Halide::Expr scale;
    Halide::Expr first_visible; // row i sees keys first_visible + i <= j …
    Halide::Expr last_visible;  //                            … j <= last_visible + i
    Halide::Expr alibi;         // slope, log2(e) included
    Halide::Expr alibi_origin;  // pos_k - pos_q of key 0 and row 0
    Halide::Expr softcap;       // capped and general only; general: 0: none

    // General only.
    Halide::Func bias;               // (j, i)  f32; may not be read if there is none
    Halide::Func bias_masks;         // (j, i)  bool, true where it is -inf
    Halide::Expr has_bias;           // bool
    Halide::Expr key_sums, row_sums; // keys and rows of the block that an element of the bias's gradient sums
    Dropout dropout;
};

/// Every Func and Var that a schedule may name.
struct Stages {
    Sizes sizes;
    Halide::Var j{"j"}, d{"d"}, x{"x"}, u{"u"}, y{"y"}, t{"t"}, part{"part"};
    Halide::RVar score_feature, prob_feature;                       // of the reductions
    Halide::RVar formed_key, formed_row, formed_tile, formed_panel; // of the weights: register tiles
    Halide::RVar edge_key, edge_row, edge_tile;
    Halide::RVar edge_vector;         // edge_lanes only
    Halide::RVar q_key, q_tile;       // dq: keys of a tile, tiles
    Halide::RVar k_row, k_tile;       // dk: rows of a tile, tiles
    Halide::RVar v_row, v_tile;       // dv likewise
    Halide::Func q_scaled;            // (d, y, t)  times the scale and log2(e)
    std::vector<Halide::RVar> scaled; // edge_lanes only: of its update
    Halide::Func scores;              // (j, y, t)  <q, k> times the scale and log2(e)
    Halide::Func score_parts;         // (j, y, t, part)  summed_apart only: of so many features
    Halide::RVar score_part;          // of the scores' update
    Halide::Func prob_grads;          // (j, y, t)  <do, v>
    Halide::Func weights;             // (j, y, t)  {P, scale dS}; general: {D P, scale dS, dS before cap and scale}
    Halide::Func q_sum;               // (d, y, t)  what this block of keys adds to dq
    Halide::Func k_sum, v_sum;        // (d, x, u)  what this block of rows adds to dk and dv
    Halide::Func dq, dk, dv;          // the generator's own outputs, which are added to
    Halide::Func guarded_sums[3];     // guards_apart only: as the three sums, of guarded blocks
    Halide::RVar guarded_tiles[3];    // of the outputs' second update
    Halide::Var l{"l"};
    Halide::Func row_peaks, key_peaks, guarded;            // (l) (l) ()  guarded: sums leave out what has no weight
    Halide::RVar peak_chunk[2], peak_row[2], peak_tile[2]; // of their updates: of rows, of keys
    Halide::RVar guarded_q_key, guarded_q_tile, guarded_k_row, guarded_k_tile, guarded_v_row, guarded_v_tile;

    // Totals only.
    Halide::Func lane_totals, totals; // (l, y, t) (y, t)  the generator's own output, which is added to
    Halide::RVar total_panel, total_lane;

    // General only.
    Halide::Var a{"a"}, i{"i"};
    Halide::RVar bias_key, bias_row; // of `biases`
    Halide::RVar key_sum, row_sum;   // of `bias_grad`
    Halide::Func biases;             // (j, i)      of the block, log2(e) included
    Halide::Func draws;              // (a, i)      random words of keys 4 a … 4 a + 3
    Halide::Func keep;               // (j, i)      D
    Halide::Func bias_grad;          // (j, i)      the generator's own output, which is added to
};

/// The loops of the sums for queries, keys and values: over the keys, or rows, of a tile, and over tiles.
struct SumLoops {
    Halide::RDom q, k, v;
};

/// Keeps the loops for schedules. `guarded`: those of guarded blocks.
void name_loops(Stages &s, const SumLoops &usual, const SumLoops &guarded);

/// `bias_grad`: general only.
Stages algorithm(const Inputs &in, const Sizes &sizes, const Halide::Func &dq, const Halide::Func &dk,
                 const Halide::Func &dv, const Halide::Func &bias_grad);

/// Adds to `totals` what the weights of each row come to, by scores and powers that have the bits of those above. Of `in` it asks for
/// what scores are formed of.
Stages totals_algorithm(const Inputs &in, const Sizes &sizes, const Halide::Func &totals);

} // namespace gyre::backward
