/// Linear attention by chunks of tokens, on CUDA: WHAT is computed. No scheduling call may appear here.
///     of chunks   kv(e, d, c) = sum of k(d, j) v(e, j)            over the chunk's keys; k_sum likewise, of k before it is rotated
///     of sums     sums(e, d, c) = before(e, d) + those of all chunks before c
///     of rows     out(e, i) = (sum of <q_i, k_j> v(e, j) + <q_i, sums(e)>) / (sum of <f_i, g_j> + <f_i, k_before>)
/// over keys j of the row's own chunk up to i; f and g are q and k before they are rotated. Rows that see everything use the sums of all chunks.
/// Index order is Halide's, innermost first.   e: feature of values;  d: of keys;  i, j: token of a chunk;  t: chunk;  h: head;  z: entry.
///
/// Sequence s of packed tokens has slots from bounds(s) / chunk + 2 s on: one for each of its chunks and one for the sums of all, whatever the
/// lists hold.
#pragma once
#include <Halide.h>

namespace gyre::linear {

constexpr int chunk = 64; // tokens

/// The terms of a sum, in a loop over runs of some.
struct Turns {
    Halide::RVar turn, term;
    Halide::Expr index;
};

/// Lists that the device alone reads.
struct Sequences {
    Halide::Func bounds; // sequences + 1
    Halide::Expr packed; // bool; else an entry is a sequence
    Halide::Expr count, tokens;
    Halide::Func key_counts;
    Halide::Expr has_key_counts;

    /// Tokens of sequence s: the first, how many, and how many of these are keys that exist.
    Halide::Expr begin(const Halide::Expr &s) const;
    Halide::Expr length(const Halide::Expr &s) const;
    Halide::Expr keys(const Halide::Expr &s) const;
    Halide::Expr first_slot(const Halide::Expr &s) const;
    Halide::Expr chunks(const Halide::Expr &s) const { return (length(s) + chunk - 1) / chunk; }
};

/// Which sequence a slot is of, and what is there.
struct Slot {
    Halide::Var t{"t"}, z{"z"};
    Halide::RVar before;   // of the update of sequence
    Halide::Func sequence; // (t, z)
    Halide::Func place;    // (t, z)  {first token, tokens, keys that exist, chunk of the sequence, sequence}

    Halide::Expr first() const;
    Halide::Expr tokens() const;
    Halide::Expr keys() const;
};
Slot slot_of(const Sequences &in, const std::string &name, const Halide::Var &t, const Halide::Var &z);

struct ChunkStages {
    Halide::Var e{"e"}, d{"d"}, t{"t"}, h{"h"}, z{"z"};
    Slot of_products, of_sums; // of each output
    Turns token;
    Halide::RVar summed_token;
    Halide::Func product; // (e, d, t, h, z)
    Halide::Func total;   // (d, t, h, z)
    Halide::Func kv, k_sum;
};
struct ChunkInputs {
    Sequences sequences;
    Halide::Func k, k_rotated, v; // (feature, head, token, entry)
};
ChunkStages chunk_algorithm(const ChunkInputs &in, const Halide::Func &kv, const Halide::Func &k_sum);

struct SumStages {
    Halide::Var e{"e"}, d{"d"}, x{"x"}, h{"h"}, z{"z"};
    Halide::RVar slot, sequence, entry;
    Halide::Func sums;
};
struct SumInputs {
    Sequences sequences;
    Halide::Func before;
    Halide::Expr has_before, last_only;
    Halide::Func chunks;
    Halide::Expr slots, entries; // slots of an entry
};
SumStages sum_algorithm(const SumInputs &in, const Halide::Func &sums);

struct RowStages {
    Halide::Var e{"e"}, j{"j"}, i{"i"}, l{"l"}, t{"t"}, h{"h"}, z{"z"};
    Slot slot;
    Halide::RVar own_key, share;
    std::vector<Turns> score_features, share_features, summed; // of each update
    Halide::Func states;                                       // (t, z)  the slot of the states that rows take
    Halide::Func scores, unrotated;                            // (j, i, t, h, z)  sums over features
    Halide::Func weights; // (j, i, t, h, z)  of what a row sees: in the numerator, in the denominator
    Halide::Func parts;   // (l, i, t, h, z)  of the denominator
    Halide::Func sum;     // (e, i, t, h, z)
    Halide::Func out;     // (e, h, i, t, z)
};
struct RowInputs {
    Sequences queries, keys;
    Halide::Expr causal, rotated, group, key_heads;
    Halide::Func q, q_rotated, k, k_rotated; // (token, feature, head, entry)
    Halide::Func v, kv_before, k_before;
    Halide::Expr features, slots, out_stride;
};
constexpr int parts_of_denominator = 4;
RowStages row_algorithm(const RowInputs &in, const Halide::Func &out);

void schedule(ChunkStages &s);
void schedule(SumStages &s);
void schedule(RowStages &s);

} // namespace gyre::linear
