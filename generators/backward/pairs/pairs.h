/// Gradients of attention for one block of keys and one block of query rows of a head, by products of pairs of bf16 numbers: WHAT is
/// computed. No scheduling call may appear here.
///
/// The mathematics is that of backward_algorithm.h, and so is what is read and added to. Rows, keys and values are rounded to bf16, which
/// changes nothing of what a tensor of bf16 holds and of what the forward pass has rounded. P and dS are rounded for the three sums.
/// All sums are in f32.
///
/// A product takes two numbers of the dimension that it sums over at a time. They are neighbouring features in S and dP, where S
/// has the roundings of the forward pass by pairs, and neighbouring rows in the sums for keys. In those for queries they are two keys whose
/// weights lie in the same lane of neighbouring vectors, so that all pairs of weights are formed lane by lane.
///
/// Index order as there. v: vector of a panel; c: pair.
#pragma once
#include "backward/backward_algorithm.h"

namespace gyre::backward {

struct PairStages : Stages {
    Halide::Var c{"c"};
    Halide::Func q_features, out_grad_features; // (c, y, t)  neighbouring features of a row
    Halide::Func k_features, v_features;        // (l, c, p)  neighbouring features of a key
    Halide::Func k_keys;                        // (d, c, p)  two keys of a panel
    Halide::Func q_rows, out_grad_rows;         // (d, c, t)  neighbouring rows of a tile
    Halide::Func row_delta;                     // (y, t)     times the scale
    Halide::Func exponents;                     // (j, y, t)  of P
    // (j, c, t)  {P of rows 2 c and 2 c + 1, scale dS of these, scale dS of two keys for one row}; general: D P in place of P, and dS before
    // cap and scale of both rows, in f32
    Halide::Func weight_pairs;
    Halide::RVar formed_lane, formed_vector, formed_pair; // of their update; tiles and panels as in Stages
    Halide::RVar edge_lane, edge_vector, edge_pair, edge_panel;
};

/// `lanes`: of a vector, of which a panel has an even number. `bias_grad`: general only. Pipelines need map_bf16_dots() and map_bf16_roundings().
PairStages algorithm_of_pairs(const Inputs &in, const Sizes &sizes, int lanes, const Halide::Func &dq,
                              const Halide::Func &dk, const Halide::Func &dv, const Halide::Func &bias_grad);

} // namespace gyre::backward
