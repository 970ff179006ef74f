// Keys and values that are read from several places of a block in turn, where rows see all of it. A processor reads ahead of each place by itself, but not
// far enough of one to keep memory busy. Requests do not make it read ahead so: bench/notes has the measurements.
#include "key_lanes.h"
#include "passes/order/loop_branches.h"

namespace gyre::attention {
using namespace Halide;
namespace {

constexpr int places = 4, places_bits = 2; // in turn
constexpr int neighbours = 2;              // keys of each place in a step
constexpr int group_bits = 6;              // of value_keys
static_assert(places == 1 << places_bits && value_keys == 1 << group_bits, "a turn is rotated to be a key");

/// Rows of fewer features are so short that places would be within a page or on the next one, and those of more take several turns.
constexpr int fewest_features = 65, most_features = 128;

} // namespace

bool KeyLanes::spreads() const { return facts.spreads && k.lanes == places * neighbours && keys_at_once() == 1; }

Expr KeyLanes::gains_by_places(const Expr &features) {
    return features >= fewest_features && features <= most_features;
}

void KeyLanes::define_spread(const Inputs &in) {
    const Expr begin = s.b * s.sizes.key_block, end = begin + s.sizes.key_block;
    // Behind a branch, since few features are multiplied as quickly as their places are found.
    s.spread = Func("spread");
    s.spread(s.b) = gains_by_places(in.head_dim) && begin >= in.tokens - 1 + in.first_visible &&
                    end - 1 <= in.last_visible && end <= in.keys;
    keys_spread = branch(s.spread(s.b));
    values_spread = [this, gain = gains_by_places(in.v_head_dim), visible = visible(in)](const Expr &group) {
        const Expr first = s.b * s.sizes.key_block + group * value_keys;
        return gain && first >= visible.tile_first && first + (value_keys - 1) <= visible.tile_last;
    };
}

bool KeyLanes::spreads_values(int vectors) const { return spreads() && vectors * k.lanes >= fewest_features; }

std::vector<int> KeyLanes::rows_of_places() const {
    std::vector<int> rows;
    for (int vectors = 1; vectors * k.lanes <= most_features; vectors++)
        if (spreads_values(vectors)) rows.push_back(vectors);
    return rows;
}

Expr KeyLanes::key_of_place(const Expr &place) const {
    const Expr lane = place % k.lanes;
    const Expr apart =
        lane / neighbours * (s.sizes.key_block / places) + place / k.lanes * neighbours + lane % neighbours;
    return unsafe_promise_clamped(select(keys_spread, apart, place), 0, s.sizes.key_block - 1);
}

// The turn's bits are rotated where its group is spread: the lowest ones, which tell the place, become the highest ones of the key.
Expr KeyLanes::key_of_turn(const Expr &group, const Expr &turn) const {
    const Expr spread = values_spread(group), bits = cast<uint32_t>(turn);
    const Expr up = select(spread, Expr(uint32_t(group_bits - places_bits)), Expr(0u));
    const Expr down = select(spread, Expr(uint32_t(places_bits)), Expr(uint32_t(group_bits)));
    return unsafe_promise_clamped(cast<int>(((bits << up) | (bits >> down)) & Expr(uint32_t(value_keys - 1))), 0,
                                  value_keys - 1);
}

void KeyLanes::schedule_spread_keys(Stage formed) {
    s.spread.compute_at(s.state, s.block).bound_storage(s.b, 1);
    if (s.sizes.padded) { // scores of most head sizes are stored as a vector
        formed.vectorize(s.formed_j);
        return;
    }
    const RVar place("place"), neighbour("neighbour");
    formed.split(s.formed_j, place, neighbour, neighbours).vectorize(neighbour).unroll(place);
}

} // namespace gyre::attention
