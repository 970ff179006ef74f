/// The keys of a block, for an update of their scores.
#pragma once
#include <Halide.h>
#include <string>

namespace gyre::attention {

/// One by one, or in vectors of `together` keys. `lane` is what such a vector, and otherwise all of them, runs along; `first` the
/// first key of the vector.
struct KeysOfBlock {
    Halide::RDom dom;
    Halide::Expr key, first;
    Halide::RVar lane;

    KeysOfBlock(int key_block, int together, const std::string &name);
};

} // namespace gyre::attention
