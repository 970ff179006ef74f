/// Fused attention with rotary and reverse-rotary embedding: WHAT is computed. No scheduling call may appear here.
///
///     S_ij = scale < R(i) q_i, R(j) k_j >      softmax over the visible j      out_i = R(-i) sum_j P_ij R(j) v_j
///
/// Online softmax over blocks of keys (Dao et al., FlashAttention, arXiv:2205.14135): a block's scores are formed,
/// reduced to their maximum and sum, weighted with the values, and folded into the state (accumulator, maximum, sum).
/// Queries run along the vector lanes, so that maximum, sum and rescaling are plain vector operations and neither keys
/// nor values are ever transposed: a key's or a value's element is a scalar that multiplies a vector of queries.
///
/// Sizes::tile_depth chooses where the two products run: on vectors in f32, or on matrix tiles in bf16, for which operands
/// are stored in pairs of neighbours along the summed dimension. The recurrence is the same.
///
/// Index order is Halide's, innermost first: the C array q[seqlen_q][heads][head_dim] is q(d, h, i).
/// A task's rows are its query tokens i times the query heads h that share its keys (GQA), row = i * heads + h; row r of row
/// tile t is row t * row_tile + r.   j: key within a block;  b: block;  d: feature.
/// Scores are kept in units of log2(e), so that probabilities are powers of two.
#pragma once
#include "common/dropout.h"
#include "common/key_rows.h"
#include "math/rotation.h"
#include "math/transpose.h"
#include "score.h"

#include <Halide.h>
#include <limits>
#include <memory>

namespace gyre::attention {

/// Sizes that the code is specialised for.
struct Sizes {
    int head_dim = 64;     // features of q and k, rounded up if `padded`
    int v_head_dim = 64;   // features of v and out, likewise
    bool padded = false;   // the tensors' own extents are smaller or equal, and are read at run time
    int row_tile = 64;     // query rows that share a block's scores
    int task_tiles = 10;   // row tiles of a task, at most
    int key_block = 128;   // keys of a block
    int feature_chunk = 8; // features of the accumulator that are folded together; divides v_head_dim
    int lanes = 16;        // block of the transpositions
    bool general = false;  // bias, mask, softcap, ALiBi and sink
    bool dropout = false;  // of probabilities; general only
    int key_lanes = 0; // few rows: so many keys along the lanes of scores and weights (engines/key_lanes/products.h)
    int fold = 0;      // few rows: neighbouring features beside each other in a vector of queries; 0: many rows
    bool as_stored = false;            // keys and values are neither rotated nor padded: they are read where they are
    bool one_tile = false;             // a task has one row tile at most
    bool lanes_along_features = false; // of the state: neighbours in e are neighbouring features, d = c * chunks + e
    int weight_step = 0;               // keys whose weights are formed together, as the next; divides key_block
    int key_step = 0; // keys whose scores are formed together, no others of the last block; 0: those of whole blocks
    bool nan_without_sign = false; // see exp2_nonpositive_by_bits()
    bool scaled_rows = false;      // few rows: q_rows are times the scale, and multiply keys as they are
    bool integer_scores = false;   // queries and keys in integers, see engines/bare/integer_products.cpp
    int tile_depth = 0;    // of matrix tiles of bf16, along which both products go in pairs; 0: no tiles, all in f32
    int terms = 1;         // with tiles: bf16 numbers that a number is the sum of
    bool matrices = false; // both products take matrices of bf16 in vector registers (engines/matrices/products.cpp)
    bool pairs = false;    // both products take pairs of bf16 in vector registers (engines/pairs/products.cpp)
    bool sum_with_values = false; // with tiles: the weights' sum is one more feature of the weighted values
    int dense_features = 0;       // of q and k as stored, a multiple of 16; 0: read at run time
    bool value_blocks = false;    // with tiles: keys and values are taken where they are, values in blocks (below)
    bool formed = false;          // likewise, as generators/operands forms them
    bool bounded = false; // with tiles: scores are so small that no maximum is subtracted (engines/tiles/bound.h)
};

/// What a kernel reads. Rotations of queries and keys may differ from those of values and outputs.
struct Inputs {
    Halide::Func q;                    // (d, h, i)        as stored
    KeyRows k, v;                      //                  likewise
    Halide::Func key_squares;          // (l, block)       with Sizes::formed, see generators/operands
    Pages pages;                       //                  where keys and values are
    Halide::Func k_scale, v_scale;     // (j)  f32         what is stored of key j, times this, is it; undefined: 1
    Halide::Expr tokens, heads, keys;  // extents; heads may be the constant 1
    Halide::Expr rows;                 // tokens * heads
    Halide::Expr row_step;             // 0: q's rows are heads of token 0, and `heads` is 1; undefined or 1: tokens
    Halide::Expr head_dim, v_head_dim; // extents of the tensors
    Halide::Expr scale;                // of the scores, log2(e) included
    Halide::Expr key_gain;             // of rotations on norms of keys, at most
    Halide::Expr first_visible;        // token i sees keys first_visible + i <= j …
    Halide::Expr last_visible;         //                             … j <= last_visible + i
    Rotation q_rotation, k_rotation, v_rotation, out_rotation;
    Halide::Func sinks; // (h)  log2(e) included, masked_score: none; undefined: they join later, or never

    // The general family only. Where a tensor is absent, its Func may not be read.
    Halide::Func bias;         // (j, i, h)  f32, added
    Halide::Func bias_masks;   // (j, i, h)  bool, true where it is -inf
    Halide::Expr has_bias;     // bool
    Halide::Func mask;         // (j, i, h)  0: masked
    Halide::Expr has_mask;     // bool
    Halide::Expr softcap;      // 0: none
    Halide::Expr has_alibi;    // bool
    Halide::Func alibi;        // (h)  slope, log2(e) included
    Halide::Expr alibi_origin; // pos_k - pos_q of key 0 and token 0

    Dropout dropout; // with Sizes::dropout only

    // Kernels with a score function only.
    std::function<Halide::Expr(const ScorePoint &)> score; // empty: none
    ScorePoint score_origin;                               // row 0 and key 0 of the task; without a score
};

/// The score of a masked key, which no other key has; its weight is exactly 0. Finite, because Halide compiles f32
/// arithmetic under the assumption that there are no infinities.
constexpr float masked_score = std::numeric_limits<float>::lowest();
/// The maximum of rows that see no key. Biased scores below it count as it, so that only a bias of -inf masks. It is so
/// far above masked_score that masked keys have no weight in these rows either.
constexpr float least_score = -3e38f;
/// True for masked_score.
Halide::Expr is_masked(const Halide::Expr &score);
constexpr float log2_e = 1.44269504088896f, ln_2 = 0.69314718055995f;

/// What ScorePoint's by_…() and along_…() keep, in the order in which they were asked for.
struct ScoreParts {
    struct Along {
        Halide::Func kept; // (r, j, t, b)
        Halide::RVar key;  // of its update
        Halide::Func rows; // (j, r, t, b)  along keys only
        Transpose lanes;   // (r, j, t, b)  likewise: of the rows
    };
    std::vector<Halide::Func> by_query;    // (r, t)
    std::vector<Halide::Func> by_key;      // (j, b)
    std::vector<Halide::Func> by_distance; // (x, b)   x = i - j + key_block - 1
    std::vector<Along> along;
};

/// Every Func and Var that a schedule may name.
struct Stages {
    Sizes sizes;
    Halide::Var i{"i"}, h{"h"}, r{"r"}, t{"t"}, j{"j"}, b{"b"}, d{"d"}, e{"e"};
    Halide::Var x{"x"}; // distance, see ScoreParts
    Halide::Var f{"f"}; // of neighbouring features
    Halide::RVar block, feature, formed_j, key_step, cap_j, score_j, bias_j, attend_j, mask_j, max_j, sum_j,
        value_j;                                    // of the reductions
    Halide::Var step{"step"}, c{"c"};               // tiles: of tile_depth keys, and in these pairs
    Halide::RVar weight_step, edge_pair, edge_step; // bounded; the steps unless sum_with_values
    Halide::RVar weight_j;                          // with Sizes::weight_step, within a step
    Halide::RVar value_step;                        // tiles: value_j runs within a step of tile_depth keys
    Halide::RVar score_product, value_product;      // tiles: of terms
    Halide::Var p{"p"};                             // term

    Halide::Func row_tokens;             // (r, t)   i of a row; undefined if heads is the constant 1
    Halide::Func k_offsets, v_offsets;   // (j, b)   where a key's rows begin
    Halide::Func q_rows, k_rows, v_rows; // (d, r, t) (d, j, b) (d, j, b)   rotated rows in f32
    RotatedRows q_rotated, k_rotated, v_rotated;
    Transpose q_lanes;                    // (r, d, t)     queries along the lanes
    Halide::Func q_scaled;                // (r, d, t)
    Halide::Func scores;                  // (r, j, t, b)  raw
    std::vector<Halide::Func> lane_pairs; // (bit, f, j, r, t, b)  with key_lanes, as the next two
    std::vector<Halide::Func> lane_sums;  // (f, j, r, t, b)       see engines/key_lanes/products.cpp
    Halide::Func lane_max, lane_sum;      // (l, r, t, b)          of every key_lanes-th key of a block
    Halide::Func q_folded;                // (f, r, d / fold, t)   few rows only, as the next
    Halide::Func folded_scores;        // (f, r, j, t, b)       of every fold-th feature; (f, j, r, t, b) with key_lanes
    Halide::Func q_peak;               // (r, t)                integer scores: bits of the largest magnitude of a row
    Halide::Func weighted_rows;        // (d, r, t, b)
    Transpose weighted_lanes;          // (r, d, t, b)
    Halide::Func bias_rows;            // (j, r, t, b)  general only
    Transpose bias_lanes;              // (r, j, t, b)  general only
    ScoreParts score_parts;            //               of the score function
    int score_update = -1;             // of `masked`   -1: there is no score function
    int bias_update = -1;              // of `masked`   general only
    Halide::Func masked;               // (r, j, t, b)  capped, biased and masked
    Halide::Func block_max, block_sum; // (r, t, b)
    Halide::Func key_scales;           // (j, t, b)     {of keys, of values}; undefined: none
    Halide::Func value_peaks,
        guarded; // (l, b) (b)    see recurrence/guard.h; undefined: values are integers, or on tiles
    Halide::RVar peak_chunk, peak_key, peak_lane;   // of their updates
    Halide::Func cleaned_peaks, cleaned;            // (l) ()     see engines/tiles/guard.h; tiles only, unless formed
    std::vector<std::vector<Halide::RVar>> scanned; // of the updates of cleaned_peaks; empty: of what no vector takes
    Halide::Func seen_rows, seen_finite;            // (d, j) (j)  values of a key as tiles take them; 1: all are finite
    RotatedRows seen_rotated;
    Halide::RVar seen_feature, marked_key, marked_turn, cleaned_feature, cleaned_turn; // of updates
    Halide::RVar guarded_j, guarded_turn; // of the last update of a guarded product
    Halide::Func weights;              // (r, j, t, b)  2^(score - block_max); with key_scales, also times the value's
    Halide::Func draws;                // (r, j / 4, t, b)  dropout only, as the next: random words of four keys
    Halide::Func kept;                 // (r, j, t, b)  weights, 0 where they are dropped
    Halide::Func weighted;             // (r, d, t, b)  sum_j weights v, or sum_j kept v
    Halide::Func state;                // (r, t, e)     {accumulators of a chunk of features, maximum, sum}
    Halide::Func inverse_sum, row_lse; // (r, t)
    Halide::Func normalised;           // (r, d, t)
    Transpose out_rows;                // (d, r, t)
    Halide::Func out_copy;             // (d, r, t)     normalised rows, before they are rotated back
    RotatedRows out_rotated;
    Halide::Func out, lse; // (d, h, i) (i, h)    the generator's own outputs

    // With tiles, q_lanes and q_scaled (r, d / 2, p, t) and weights (r, j / 2, p, t, b) hold pairs of bf16, k_rows and
    // v_rows bf16, unless they consist of several terms; values are transposed, too.
    Halide::Func powers; // (r, j, t, b)       in f32, unless bounded
    Halide::RVar raised_key, raised_step;
    Halide::Func q_pairs;  // (d / 2, r, p, t)
    Halide::Func k_terms;  // (d, j, p, b)    undefined if there is but one
    Halide::Func v_pairs;  // (d, j / 2, p, b)
    Transpose v_lanes;     // (j / 2, d, p, b)
    Halide::Func v_packed; // (j / 2, d, p, b)   and after the last feature a tile of ones
    Halide::Func sums;     // (r, d, t, b)   bounded: the sum in every row of a tile, unless sum_with_values
    Halide::RVar v_feature, sum_step, sum_product;

    // With value_blocks or formed, k_rows and v_rows (j, d, b) are the tensors themselves, k_offsets (j / tile_rows, b), v_offsets
    // (j / tile_depth, b), both undefined if formed; and instead of v_packed:
    Halide::Func v_ones;                  // (j / 2, d)     a tile of ones
    Halide::Func v_copied, first_copied;  // (j, d, b) (b)  values of steps from first_copied on; neither if formed
    Halide::RVar copied_key, copied_step; // of the product with them
    // With matrices, k_rows and v_rows hold bf16; f: place in a row of a matrix, y: its row, c: matrices along the dimension
    // that is summed over, p and g: along the others.
    Halide::Var y{"y"}, g{"g"}, lane{"lane"};
    Halide::Func q_matrices, k_matrices; // (f, y, c, p, t) (f, y, c, p, b)    two rows of queries or keys, 4 features
    Halide::Func v_matrices;             // (f, y, c, p, b)      two features of values, 4 keys
    Halide::Func weight_matrices;        // (f, y, c, p, t, b)   two rows of weights, 4 keys
    // (lane, p, g, t, b) of a pair of queries and one of keys, before they are scaled; with pairs: (r, j, t, b)
    Halide::Func score_sums;
    Halide::Func weighted_sums;              // (lane, p, g, t, b)   of a pair of queries and one of features
    Halide::RVar feature_place, value_place; // within a row of a matrix; those of matrices are `feature` and value_j

    // With pairs, k_rows and v_rows hold bf16 and q_scaled (r, c, t) pairs of it; c: pairs along the dimension that is summed over.
    Halide::Func k_pairs; // (c, j, b)      v_pairs is (d, c, b)
    static constexpr int weighed_pairs = 2;
    // (r, group, t, b)   {pairs of neighbouring keys, weighed_pairs of them; the sum of all their weights}
    Halide::Func weight_pairs;

    // Where row tiles may be bounded. All blocks of those that are not go through stages of their own: keys, values,
    // scores and weights; queries and state are the same Funcs.
    Halide::Func is_bounded;           // (t)
    Halide::Func any_exact;            // ()      some row tile is not
    Halide::Func q_squares, k_squares; // (r, t) (l, b)  of all features; of every 16th one
    Halide::Func q_norm, k_norm;       // (t) (b)        squares of the norms' bounds
    Halide::Var l{"l"};
    Halide::RVar bound_pair, bound_row, bound_key, bound_block;
    std::shared_ptr<Stages> exact; // undefined: there are none, all is exact
};

/// Defines `out` (stored as `type`) and `lse` (f32, natural logarithm).
Stages algorithm(const Inputs &in, const Sizes &sizes, const Halide::Func &out, const Halide::Func &lse,
                 const Halide::Type &type);

} // namespace gyre::attention
