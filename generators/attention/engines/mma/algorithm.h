/// Fused attention with rotary and reverse-rotary embedding for warps that multiply tiles of matrices: WHAT is computed. No
/// scheduling call may appear here.
///
/// The recurrence is attention_algorithm.h's. It is written apart because nothing there is a whole tile of a product here.
/// Queries are rows instead of lanes, so that neither they nor the results are transposed. A launch takes all sequences and heads.
///
///     S_ij = scale < R(i) q_i, R(j) k_j >      softmax over the visible j      out_i = R(-i) sum_j P_ij R(j) v_j
///
/// Weights of a block of keys are powers of two relative to the maximum so far, rounded to the tensors' type for the product
/// with the values; sums are of the unrounded ones. Source: Dao, FlashAttention-2 (arXiv:2307.08691).
///
/// Index order is Halide's, innermost first: the C array q[batch][seqlen_q][heads][head_dim] is q(d, h, i, z).
/// t: tile of query_rows rows, i: row of it;   b: block of key_block keys, j: key of it.
#pragma once
#include "passes/cuda/turns.h"
#include "passes/cuda/warp_nest.h"
#include "rotation.h"
#include "scores.h"
#include "tile.h"

namespace gyre::attention {

struct CudaSizes {
    int head_dim = 128, v_head_dim = 128;
    int query_rows = 128, key_block = 64;
    int warps = 8;              // of a block of threads, which share the rows evenly
    int bytes = 2;              // of a number of q, k and v: tensor cores multiply those of 2, multiply-adds those of 4
    bool loads_queries = false; // by the products, from shared memory; else they stay in registers
    bool warpgroups =
        false; // four warps multiply together, and read keys and values that are swizzled (passes/cuda/swizzle.h)
    bool swizzled_queries = false; // warpgroups read queries from shared memory, too
    int copying_warps = 0;         // of a block of threads, beside those that compute; 0: these copy
    bool paged = false;            // keys and values are in pages
    bool general = false;          // with everything of scores.h; keys and values in pages or not
    bool partial = false; // rows are folded (tile.h), and see a part of the keys each; keys and values likewise
    /// Whether keys are in pages is the call's choice.
    bool may_be_paged() const { return general || partial; }
    int copies_of_row() const { return head_dim * bytes / cuda::copied_bytes; }
    /// A warp's lanes work out where a row of keys or values is, each of one row: where pages may be, that takes more than the copy.
    bool shares_places() const {
        constexpr int lanes = cuda::warp_lanes;
        const int turns = key_block * copies_of_row() / (lanes * warps), rows_of_turn = lanes / copies_of_row();
        return (paged || may_be_paged()) && !loads_queries && !warpgroups && lanes % copies_of_row() == 0 &&
               turns > 2 && turns * rows_of_turn <= lanes;
    }
    /// Rows have slopes of their own.
    bool has_slopes() const { return general && partial; }
};

/// Which weights are dropped, of those kernels; the definition is that of common/dropout.h.
struct CudaDropout {
    Halide::Expr threshold, keep_scale;       // undefined: nothing is dropped
    Halide::Expr seed_low, seed_high, offset; // u32
};

struct CudaInputs {
    Halide::Func q, k,
        v; // (d, h, token, z)  k and v already rotated, their rows aligned to 16 bytes; in pages: (d, h, slot, page)
    CudaSequences sequences;
    Halide::Expr key_heads, key_tokens; // extents of k and v
    CudaScoring scoring;
    CudaDropout dropout;
    Halide::Expr first_entry;                  // of the batch, that entry 0 of the tensors is
    Halide::Expr has_pages;                    // bool, where that is the call's choice
    Halide::Func page_table;                   // (page, sequence)
    Halide::Expr page_bits, pages, most_pages; // log2 of a page's slots; extents of k and v, and of the table
    Halide::Expr out_stride;                   // of out's tokens
    Halide::Expr scale, sign;                  // of scores: magnitude times log2(e), and +-1
    cuda::AngleSource angles, value_angles;    // of queries and results
    CudaPairs rope, value_rope;                // of those, none: off
    cuda::PositionSource q_positions;
};

/// Every Func and Var that a schedule may name.
struct CudaStages {
    CudaSizes sizes;
    Halide::Var d{"d"}, h{"h"}, x{"x"}, z{"z"}, i{"i"}, t{"t"}, j{"j"}, b{"b"}, w{"w"};
    Halide::RVar feature_of_tile, feature_tile;             // of the product of queries and keys
    Halide::RVar key_of_tile, key_tile;                     // of that of weights and values
    Halide::RVar seen_key, seen_tile;                       // of the same where only some rows see them
    Halide::RVar masked_key, column, columns;               // of updates and reductions along the keys of a block
    std::vector<Halide::RVar> scored_keys;                  // of general kernels, of updates before masked_key's
    Halide::RVar second_of_pair, run_of_pairs, pair_of_run; // of q_rotated's update, without it of q_rows'
    Halide::RVar block;

    CudaTile tile;
    CudaHead head;             // of general kernels
    Halide::Func slopes;       // (i, t, h, z)  of those whose rows are folded
    Halide::Func row_tokens;   // (i, t, h, z)  where rows lie; undefined: found for each copy
    Halide::Func q_staged;     // (d, i, t, h, z)  as they are
    Halide::Func query_angles; // (pair, i, t, h, z)  {cos, sin}
    Halide::Func q_rotated;    // (d, i, t, h, z)  rotated where something is; undefined: an update of q_rows
    Halide::Func q_rows;       // (d, i, t, h, z)  as stored, with the scale's sign; swizzled: (d, i, panel w, t, h, z)
    Halide::Func k_rows,
        v_rows; // (d, j, b, h, z)  likewise, of one block; swizzled: (d, j, panel w, b, h, z); undefined: kv_rows
    Halide::Func kv_rows;         // (d, j, w, b, h, z)  both, w 0: keys, 1: values
    Halide::Func scores;          // (j, i, t, b, h, z)  not scaled
    Halide::Func maximum, keep;   // (i, t, b, h, z)  of the scores so far; 2^(scale (the one before - it))
    Halide::Func block_sum;       // (i, t, b, h, z)
    Halide::Func powers, weights; // (j, i, t, b, h, z)  2^(scale (score - maximum)), and as stored
    Halide::Func flawed;          // (t, b, h, z)  1: some row does not see a value, and some value is not finite
    Halide::Func weighted;        // (d, i, t, b, h, z)  of all blocks so far: sum_j weights v
    Halide::Func state;           // (d, i, t, h, z)  {maximum, sum, accumulator}
    std::vector<Halide::Func>
        out_rows;          // (d, i, t, h, z)  normalised, of as many features each; the first has the first ones
    Halide::Func lse_rows; // (i, t, h, z)
    Halide::Func out, lse; // (d, h, x, z) (x, h, z)  the generator's outputs, in f32 if partial
};

/// A feature of row `i`, with the scale's sign.
Halide::Expr staged_query(const CudaStages &s, const Halide::Expr &feature);

/// The key or value `key` of block `b`, in shared memory.
Halide::Expr staged_key(const CudaStages &s, const Halide::Expr &feature, const Halide::Expr &key,
                        const Halide::Expr &b);
Halide::Expr staged_value(const CudaStages &s, const Halide::Expr &feature, const Halide::Expr &key,
                          const Halide::Expr &b);

/// The number that is the first, in shared memory, of row `row` of all values of block `b`, which lie densely; and the numbers of a row.
Halide::Expr row_of_values(const CudaStages &s, const Halide::Expr &row, const Halide::Expr &b);
int columns_of_values(const CudaSizes &sizes);

CudaStages cuda_algorithm(const CudaInputs &in, const CudaSizes &sizes, const Halide::Func &out,
                          const Halide::Func &lse, const Halide::Type &type);

} // namespace gyre::attention
