/// Which rows of queries a tile is: of which sequence, where that lies in the tensors, and which keys it sees. WHAT is computed.
///
/// Sequences of one length are entries z of the tensors, and tile t is rows from t * query_rows on. Packed ones follow each
/// other in the tokens of entry 0, at bounds that the device alone knows: sequence s has the tiles from bounds[s] / query_rows + s on,
/// enough for its rows wherever they begin, and total / query_rows + sequences tiles hold all of them.
///
/// Folded, a row is a query of one of the heads that share a key head, heads innermost; bounds then count rows, too, and h is the
/// key head. Keys that a tile sees may be cut into parts: entry e has the part p at z = p * entries + e.
#pragma once
#include <Halide.h>

namespace gyre::attention {

/// Lists on the device. What they hold is kept within the tensors.
struct CudaSequences {
    Halide::Func q_bounds, k_bounds; // (sequence)  cu_seqlens
    Halide::Expr packed_q, packed_k; // bool
    Halide::Expr sequences;          // in the lists
    Halide::Expr packed_count;       // of packed sequences; 1: not packed
    Halide::Func used_keys;          // (sequence)
    Halide::Expr has_used_keys;      // bool
    Halide::Expr queries, keys;      // tokens of an entry; keys: of a sequence, at most, in pages
    Halide::Expr bottom_right;       // bool: the last query sees the last key
    Halide::Expr left, right;        // of the window, >= 0, causal included
    Halide::Expr group;              // heads that share a key head
    bool folded = false;             // rows are queries times these
    Halide::Expr parts, entries;     // of keys; of the tensors. Of folded rows alone
};

struct CudaTile {
    Halide::Var t, z, h;
    Halide::RVar before;   // of the update of sequence
    Halide::Func sequence; // (t, z)
    Halide::Func rows;     // (t, z, h)  {first query token, rows, row of the tile's first, first key token, keys}
    Halide::Func seen;     // (t, z, h)  {first block, end of blocks, key head, entry of keys and values}
    Halide::Func common;   // (t, z, h)  {first key that all rows see, last one}

    /// What rows holds for tile `of`.
    Halide::Expr first_query(const Halide::Expr &of) const { return rows(of, z, h)[0]; }
    Halide::Expr row_count(const Halide::Expr &of) const { return rows(of, z, h)[1]; }
    Halide::Expr first_row(const Halide::Expr &of) const { return rows(of, z, h)[2]; }
    Halide::Expr first_key(const Halide::Expr &of) const { return rows(of, z, h)[3]; }
    Halide::Expr keys(const Halide::Expr &of) const { return rows(of, z, h)[4]; }
    Halide::Expr queries(const Halide::Expr &of) const { return query(row_count(of)); }
    /// The row at place `i` of a tile, or if there is none the last one that is there.
    Halide::Expr existing_row(const Halide::Expr &of, const Halide::Expr &i) const {
        return max(min(first_row(of) + i, row_count(of) - 1), 0);
    }
    /// A row's query, and its head.
    Halide::Expr query(const Halide::Expr &row) const { return fold.defined() ? row / fold : row; }
    Halide::Expr of_heads(const Halide::Expr &row) const { return fold.defined() ? row % fold : 0; }
    /// A query stands among the keys at query + shift.
    Halide::Expr shift(const Halide::Expr &of) const;

    /// Its place in the lists.
    Halide::Expr of_sequence(const Halide::Expr &of) const;

    Halide::Expr entry; // of the tensors; in registers: seen
    Halide::Expr fold;  // heads that rows are of; undefined: one
    Halide::Expr bottom_right, sequences;
};

CudaTile cuda_tile(const CudaSequences &in, int query_rows, int key_block, const Halide::Var &t, const Halide::Var &z,
                   const Halide::Var &h);

} // namespace gyre::attention
