/// Which of packed sequences a token is of, by bounds that the device alone reads: WHAT is computed.
///
/// Packed sequences follow each other in the tokens of batch entry 0. Without them a batch entry is a sequence.
#pragma once
#include <Halide.h>

namespace gyre::rotary {

struct PackedSequences {
    Halide::Func bounds;            // (sequence)  cu_seqlens
    Halide::Expr packed, sequences; // bool; how many
};

struct PackedToken {
    Halide::Var b{"b"}, c{"c"}; // token, batch entry
    Halide::RVar before;        // of the update of sequence
    Halide::Func sequence;      // (b, c)
    Halide::Expr index;         // the sequence, one that is in the lists whatever bounds hold
    Halide::Expr first;         // its first token
};

/// `name`: of what is scheduled, which is one for each stage that asks.
PackedToken packed_token(const PackedSequences &in, const std::string &name);

} // namespace gyre::rotary
