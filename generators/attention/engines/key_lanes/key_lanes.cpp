#include "key_lanes.h"

#include "math/bf16_pairs.h"
#include "passes/instructions/neighbour_pairs.h"

#include <algorithm>

namespace gyre::attention {
using namespace Halide;
namespace {

constexpr int most_folded = 16;     // vectors of features in a tuple of the state
constexpr int padded_features = 64; // in a tuple, at least, where a call tells how many there are

} // namespace

void KeyLanes::choose_sizes() {
    Sizes &z = s.sizes;
    for (const int dim : {z.head_dim, z.v_head_dim})
        _halide_user_assert(dim > 0 && dim % k.lanes == 0)
            << "lanes is " << k.lanes << ", expected to divide the head size, " << dim << "\n";
    const int vectors = z.v_head_dim / k.lanes;
    value_features = std::min(vectors, k.feature_chunk) * k.lanes;
    while (z.v_head_dim % value_features != 0) value_features -= k.lanes;
    // Tuples cover every feature; where a call tells how many there are, each holds whole register tiles.
    const int tile = z.padded ? value_features / k.lanes : 1;
    z.feature_chunk = z.padded ? std::max(padded_features / k.lanes, tile) : std::min(vectors, most_folded);
    while (vectors % z.feature_chunk != 0 || z.feature_chunk % tile != 0) z.feature_chunk--;
}

void KeyLanes::check() const {
    const Sizes &z = s.sizes;
    _halide_user_assert(provider->reads_in_place()) << "expected as_stored=true with fold equal to lanes\n";
    const int together = k.lanes * vectors_together();
    _halide_user_assert(value_features % together == 0)
        << "values take " << value_features << " features at a time, expected a multiple of " << together << "\n";
    _halide_user_assert(z.key_block % value_keys == 0)
        << "expected key_block to be a multiple of " << value_keys << "\n";
}

Expr KeyLanes::of_pair(const Func &rows, const Expr &first, const Expr &lane, const Expr &which,
                       const Expr &key) const {
    const Expr feature = first + 2 * lane;
    return bf16_of_pair(neighbour_pair(OperandStages::at(rows, feature, key, s.b, s.t),
                                       OperandStages::at(rows, feature + 1, key, s.b, s.t)),
                        which);
}

void KeyLanes::define_queries(const Inputs &in) {
    const Sizes &z = s.sizes;
    if (facts.in_pairs) {
        s.q_placed = Func("q_placed");
        s.q_placed(s.d, s.r, s.t) = s.q_rows(pairs.feature(s.d), s.r, s.t);
    }
    const int together = k.lanes * z.feature_chunk;
    k_features = in.head_dim;
    v_features = in.v_head_dim;
    rows_alike = in.k.slot_stride == in.v.slot_stride && in.k.page_stride == in.v.page_stride;
    s.feature_groups = z.v_head_dim / together;
    if (z.padded)
        s.feature_groups =
            unsafe_promise_clamped((in.v_head_dim + (together - 1)) / together, 1, z.v_head_dim / together);
}

} // namespace gyre::attention
