/// Which rows of queries a tile is: of which sequence, where that lies in the tensors, and which keys it sees. WHAT is computed.
///
/// Sequences of one length are entries z of the tensors, and tile t is rows from t * query_rows on. Packed ones follow each
/// other in the tokens of entry 0, at bounds that the device alone knows: sequence s has the tiles from bounds[s] / query_rows + s on,
/// enough for its rows wherever they begin, and total / query_rows + sequences tiles hold all of them.
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
};

struct CudaTile {
    Halide::Var t, z, h;
    Halide::RVar before;   // of the update of sequence
    Halide::Func sequence; // (t, z)
    Halide::Func rows;     // (t, z, h)  {first query token, queries, row of the tile's first, first key token, keys}
    Halide::Func seen;     // (t, z, h)  {first block, end of blocks, key head}

    /// Of tile `of`, by what rows holds.
    Halide::Expr first_query(const Halide::Expr &of) const { return rows(of, z, h)[0]; }
    Halide::Expr queries(const Halide::Expr &of) const { return rows(of, z, h)[1]; }
    Halide::Expr first_row(const Halide::Expr &of) const { return rows(of, z, h)[2]; }
    Halide::Expr first_key(const Halide::Expr &of) const { return rows(of, z, h)[3]; }
    Halide::Expr keys(const Halide::Expr &of) const { return rows(of, z, h)[4]; }
    /// A row stands among the keys at row + shift.
    Halide::Expr shift(const Halide::Expr &of) const;

    /// Its place in the lists.
    Halide::Expr of_sequence(const Halide::Expr &of) const;

    Halide::Expr bottom_right, sequences;
};

CudaTile cuda_tile(const CudaSequences &in, int query_rows, int key_block, const Halide::Var &t, const Halide::Var &z,
                   const Halide::Var &h);

} // namespace gyre::attention
