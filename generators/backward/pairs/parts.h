/// The parts of gradients by pairs of bf16 numbers: WHAT is computed.
#pragma once
#include "backward/pairs/pairs.h"

namespace gyre::backward {

/// The keys whose weights for one row are a pair, and where the pair is.
struct KeyPairs {
    int lanes, key_lanes;

    int vectors() const { return key_lanes / lanes; }
    Halide::Expr key(const Halide::Expr &panel, const Halide::Expr &vector, const Halide::Expr &lane) const {
        return panel * key_lanes + vector * lanes + lane;
    }
    /// The first key of the pair that is formed of a vector and its neighbour, and how far the second is from it.
    Halide::Expr first_key(const Halide::Expr &panel, const Halide::Expr &vector, const Halide::Expr &lane) const {
        return key(panel, vector / 2 * 2, lane);
    }
    Halide::Expr first_key(const Halide::Expr &panel, const Halide::Expr &pair) const {
        return key(panel, pair / lanes * 2, pair % lanes);
    }
    int distance() const { return lanes; }
    /// Where the pair of a row is stored that is the first or the second of its pair of rows.
    Halide::Expr place(const Halide::Expr &panel, const Halide::Expr &pair, const Halide::Expr &row) const {
        return first_key(panel, pair) + row % 2 * lanes;
    }
};

/// All bits of a pair, or none of those of its numbers that do not count.
Halide::Expr bits_of(const Halide::Expr &first_counts, const Halide::Expr &second_counts);

/// Defines what both products over features and the three sums read, of the tiles and panels that begin before the last row and key.
void define_operands(PairStages &s, const Inputs &in, const KeyPairs &keys);

/// Defines `weight_pairs`, in which what is masked at an edge is 0.
void define_weight_pairs(PairStages &s, const Inputs &in, const KeyPairs &keys);

/// Defines the three sums, over the tiles that see each other alone.
void define_sums(PairStages &s, const Inputs &in, const KeyPairs &keys);

} // namespace gyre::backward
