/// Few rows with keys along the lanes (Sizes::key_lanes): WHAT is computed.
///
/// Vectors hold neighbouring features in both products, as keys and values are stored, and neighbouring keys between them: a
/// score is the sum across the lanes of a vector of products, and key_lanes of these vectors are transposed at once. A
/// row's softmax, its bias and its mask are then along the keys, as they lie in memory, so that one row is no less work a row than
/// several.
#pragma once
#include "attention/recurrence/blocks.h"

#include <functional>

namespace gyre::attention {

/// The keys of a block, for an update of their scores: one by one, or with key_lanes in vectors. `lane` is what such a
/// vector, and otherwise all of them, runs along; `first` the first key of the vector.
struct KeysOfBlock {
    Halide::RDom dom;
    Halide::Expr key, first;
    Halide::RVar lane;

    KeysOfBlock(const Sizes &sizes, const std::string &name);
};

/// s.k_rows and s.v_rows of tensors with fewer features than the kernel is made for, but at least a vector of them. What would be
/// read past a row's end is not: the last vector of a row ends with it, and begins with features of the one before, which
/// are 0 in keys.
void define_rows_in_whole_vectors(Stages &s, const Inputs &in,
                                  const std::function<Halide::Expr(const Halide::Expr &feature)> &key_element,
                                  const std::function<Halide::Expr(const Halide::Expr &feature)> &value_element);
/// Where the kernel has a feature of such a value.
Halide::Expr place_in_whole_vectors(const Stages &s, const Inputs &in, const Halide::Expr &feature);

/// s.scores, from s.q_rows, which are scaled.
void define_scores_along_lanes(Stages &s, const Inputs &in);
/// s.block_max, from s.masked.
void find_maximum_along_lanes(Stages &s, const Visible &visible);
/// s.block_sum, from s.weights.
void sum_along_lanes(Stages &s, const Visible &visible);

} // namespace gyre::attention
