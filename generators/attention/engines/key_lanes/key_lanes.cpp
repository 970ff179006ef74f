#include "key_lanes.h"

#include "attention/recurrence/blocks.h"
#include "attention/recurrence/scores.h"
#include "math/bf16_pairs.h"
#include "passes/neighbour_pairs.h"

#include <functional>

namespace gyre::attention {
using namespace Halide;
namespace {

using Join = std::function<Expr(const Expr &, const Expr &)>;

/// All lanes, halves with halves, as vectors do.
Expr joined_in_pairs(std::vector<Expr> values, const Join &join) {
    while (values.size() > 1) {
        const size_t half = (values.size() + 1) / 2;
        for (size_t i = 0; i + half < values.size(); i++) values[i] = join(values[i], values[i + half]);
        values.resize(half);
    }
    return values[0];
}

/// Joins what the keys of a block have that some row sees, if `where` holds: first those of equal lanes, then the lanes.
void join_keys(const KeyLaneStages &s, const Visible &visible, int n, Func by_lane, Func all, const Func &of_key,
               const Expr &neutral, const Join &join, RVar *step, const Expr &where = Internal::const_true()) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b, &l = s.l;
    RDom steps(0, z.key_block / n, "lane_steps");
    steps.where(b * z.key_block + steps * n <= visible.tile_last);
    steps.where(where);
    by_lane(l, r, t, b) = neutral;
    by_lane(l, r, t, b) = join(by_lane(l, r, t, b), of_key(r, steps * n + l, t, b));
    std::vector<Expr> lanes;
    for (int lane = 0; lane < n; lane++) lanes.push_back(by_lane(lane, r, t, b));
    all(r, t, b) = joined_in_pairs(lanes, join);
    *step = steps;
}

} // namespace

/// Sums as many vectors of products as a vector has lanes, one of each key, into one vector that holds a key's sum in each lane: (l, j / lanes, r, t, b).
///
/// A round takes two vectors, of keys that are half the number of vectors apart, interleaves them and adds one half of what results to
/// the other: a vector with half as many numbers of each of these keys. Each round halves the vectors, and puts one more bit of
/// the key below the bits of the rounds before, so that at last lane l has key l.
Func KeyLanes::sum_across_lanes() {
    const int n = k.lanes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, &f = s.f, bit("bit");
    Func sums = s.folded_scores;
    for (int vectors = n / 2; vectors >= 1; vectors /= 2) {
        const std::string round = std::to_string(s.lane_pairs.size());
        Func pairs("lane_pairs_" + round), next("lane_sums_" + round);
        // Vector j of `vectors` is vector j % vectors of the keys from j / vectors * lanes on.
        const Expr first = j / vectors * (2 * vectors) + j % vectors;
        pairs(bit, f, j, r, t, b) = sums(f, first + bit * vectors, r, t, b);
        next(f, j, r, t, b) = pairs(f % 2, f / 2, j, r, t, b) + pairs(f % 2, f / 2 + n / 2, j, r, t, b);
        s.lane_pairs.push_back(pairs);
        s.lane_sums.push_back(next);
        sums = next;
    }
    return sums;
}

Expr GroupsOfVectors::feature(const Sizes &z, int c, const Expr &e) const {
    return e / lanes * (lanes * z.feature_chunk) + c * lanes + e % lanes;
}

Expr GroupsOfVectors::tuple(const Sizes &z, const Expr &d) const {
    return d / (lanes * z.feature_chunk) * lanes + d % lanes;
}

Expr GroupsOfVectors::place(const Sizes &z, const Expr &d) const { return d / lanes % z.feature_chunk; }

Expr PairsOfVectors::feature(const Expr &place) const {
    const int both = 2 * lanes;
    return place / both * both + place % lanes * 2 + place / lanes % 2;
}

Expr PairsOfVectors::place(const Expr &feature) const {
    const int both = 2 * lanes;
    return feature / both * both + feature % 2 * lanes + feature % both / 2;
}

Expr GroupsOfPairs::tuple(const Sizes &z, const Expr &d) const { return GroupsOfVectors::tuple(z, pairs.place(d)); }

Expr GroupsOfPairs::place(const Sizes &z, const Expr &d) const { return GroupsOfVectors::place(z, pairs.place(d)); }

Expr KeyLanes::of_pair(const Func &rows, const Expr &first, const Expr &lane, const Expr &which,
                       const Expr &key) const {
    const Expr feature = first + 2 * lane;
    return bf16_of_pair(neighbour_pair(rows(feature, key, s.b), rows(feature + 1, key, s.b)), which);
}

void KeyLanes::define_queries(const Inputs &in) {
    const Sizes &z = s.sizes;
    if (facts.in_pairs) {
        s.q_placed = Func("q_placed");
        s.q_placed(s.d, s.r, s.t) = s.q_rows(pairs.feature(s.d), s.r, s.t);
    }
    const int together = k.lanes * z.feature_chunk;
    pages = in.pages.count;
    k_features = in.head_dim;
    v_features = in.v_head_dim;
    rows_alike = in.k.slot_stride == in.v.slot_stride && in.k.page_stride == in.v.page_stride;
    s.feature_groups = z.v_head_dim / together;
    if (z.padded)
        s.feature_groups =
            unsafe_promise_clamped((in.v_head_dim + (together - 1)) / together, 1, z.v_head_dim / together);
}

void KeyLanes::define_scores(const Inputs &in) {
    const Sizes &z = s.sizes;
    const Func &k_rows = s.operands.k_rows;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b, &f = s.f;
    const int n = k.lanes;
    s.folded_scores = Func("folded_scores");
    if (facts.in_pairs) {
        RDom features(0, 2, 0, z.head_dim / (2 * n), "features");
        s.feature_within = features.x;
        s.feature = features.y;
        const Expr first = features.y * (2 * n);
        s.folded_scores(f, j, r, t, b) +=
            s.q_placed(first + features.x * n + f, r, t) * of_pair(k_rows, first, f, features.x, j);
    } else {
        RDom features(0, z.head_dim / n, "features");
        if (z.padded) features.where(features < in.head_dim / n);
        s.feature = features;
        s.folded_scores(f, j, r, t, b) += s.q_rows(features * n + f, r, t) * k_rows(features * n + f, j, b);
    }
    if (z.padded) { // the features after the last whole vector, with those before them taken for 0
        RDom rest(0, 1, "rest");
        rest.where(rest < in.head_dim % n);
        const Expr feature = in.head_dim - n + rest + f;
        const Expr key = select(feature >= in.head_dim / n * n, k_rows(feature, j, b), 0.0f);
        const Expr of_query = unsafe_promise_clamped(feature, 0, z.head_dim - 1);
        s.folded_scores(f, j, r, t, b) += s.q_rows(of_query, r, t) * key;
    }
    s.scores = Func("scores");
    s.scores(r, j, t, b) = sum_across_lanes()(j % n, j / n, r, t, b);
}

/// Adds the values of a group of keys to `vectors` neighbouring vectors of features: once for each of `chunks`, from `first_chunk` on, where `where` holds.
void KeyLanes::add_values(const Inputs &in, const Visible &visible, int vectors, const Expr &chunks,
                          const Expr &first_chunk, const Expr &where) {
    const Sizes &z = s.sizes;
    const int n = k.lanes, at_once = keys_at_once();
    const Var &r = s.r, &t = s.t, &b = s.b, &l = s.l, v("v"), h("h"), c("c"), g("g");
    ValueSum sum;
    sum.of_group = Func("value_sums_" + std::to_string(s.value_sums.size()));
    sum.keys_at_once = at_once;
    // Bounds know nothing of `where`: what a sum adds to is within the tuples of the call's features.
    const int chunk_vectors = value_features / n;
    const Expr covered = z.padded ? s.feature_groups * z.feature_chunk : Expr(z.v_head_dim / n);
    const auto first_of = [&](const Expr &chunk) {
        return unsafe_promise_clamped((first_chunk + chunk) * chunk_vectors, 0, covered - vectors);
    };
    const Func &v_rows = s.operands.v_rows;
    const Expr keys_seen = visible.tile_last + 1 - b * z.key_block - g * value_keys; // of the group, or more
    const auto term = [&](const Expr &key_of_group) {
        const Expr key = g * value_keys + key_of_group, first = first_of(c);
        const Expr value = facts.in_pairs ? of_pair(v_rows, (first + v / 2 * 2) * n, l, v % 2, key)
                                          : v_rows((first + v) * n + l, key, b);
        return value_weight(key) * value;
    };
    RDom keys(0, value_keys / at_once, "keys"), last(0, 1, "last_key");
    keys.where(keys * at_once + (at_once - 1) < keys_seen);
    sum.key = keys;
    sum.of_group(l, v, h, c, g, r, t, b) = 0.0f;
    sum.of_group(l, v, h, c, g, r, t, b) += term(keys * at_once + h);
    if (at_once == 2) { // the last of an odd number of keys
        last.where(keys_seen > 0 && keys_seen < value_keys && keys_seen % 2 == 1);
        sum.last_key = last;
        sum.of_group(l, v, 0, c, g, r, t, b) += term(unsafe_promise_clamped(keys_seen - 1 + last, 0, value_keys - 1));
    }
    RDom terms({{0, n}, {0, vectors}, {0, chunks}, {0, z.key_block / value_keys}}, "terms");
    const Expr group_key = b * z.key_block + terms[3] * value_keys;
    terms.where(where);
    terms.where(group_key < in.keys);
    terms.where(group_key + (value_keys - 1) >= visible.tile_first);
    terms.where(group_key <= visible.tile_last);
    Expr total = sum.of_group(terms[0], terms[1], 0, terms[2], terms[3], r, t, b);
    if (at_once == 2) total += sum.of_group(terms[0], terms[1], 1, terms[2], terms[3], r, t, b);
    s.weighted_rows((first_of(terms[2]) + terms[1]) * n + terms[0], r, t, b) += total;
    sum.lane = terms[0];
    sum.vector = terms[1];
    sum.chunk = terms[2];
    sum.group = terms[3];
    sum.vectors = vectors;
    s.value_sums.push_back(sum);
}

void KeyLanes::define_product_of_values(const Inputs &in, const Visible &visible) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b, &d = s.d;
    const int chunk_vectors = value_features / k.lanes;
    s.weighted_rows = Func("weighted_rows");
    s.weighted_rows(d, r, t, b) = layout().nothing();
    if (z.padded) { // whole chunks, then what is left of the call's features, as many vectors of it as there are
        const Expr vectors = (in.v_head_dim + (k.lanes - 1)) / k.lanes, whole = vectors / chunk_vectors;
        add_values(in, visible, chunk_vectors, whole, 0, Internal::const_true());
        for (int left = 1; left < chunk_vectors; left++)
            add_values(in, visible, left, 1, whole, vectors % chunk_vectors == left);
    } else {
        add_values(in, visible, chunk_vectors, z.v_head_dim / value_features, 0, Internal::const_true());
    }
    guard(s.weighted_rows, visible, {r, facts.in_pairs ? pairs.feature(d) : Expr(d)});
    s.weighted(r, d, t, b) = s.weighted_rows(d, r, t, b);
}

void KeyLanes::define_maximum(const Visible &visible) {
    mask_scores(s, visible, steps(), visible.at_edge(s.b * s.sizes.key_block, s.sizes.key_block));
    s.lane_max = Func("lane_max");
    s.block_max = Func("block_max");
    join_keys(
        s, visible, k.lanes, s.lane_max, s.block_max, s.masked, least_score,
        [](const Expr &x, const Expr &y) { return max(x, y); }, &s.max_j);
}

/// Scores tell which keys are hidden, and are few numbers beside the values. A bias seldom hides anything. Scores before the first key that some row
/// sees are not formed, but there the block is cut anyway.
Expr KeyLanes::hides_keys(const Inputs &in, const Visible &visible) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b;
    const Expr has_either = in.has_bias || in.has_mask;
    Func is_hidden("is_hidden");
    is_hidden(r, j, t, b) = select(is_masked(s.masked(r, j, t, b)) && b * z.key_block + j < in.keys, 1, 0);
    s.lane_hidden = Func("lane_hidden");
    s.row_hidden = Func("row_hidden");
    join_keys(
        s, visible, k.lanes, s.lane_hidden, s.row_hidden, is_hidden, 0,
        [](const Expr &x, const Expr &y) { return x | y; }, &s.hidden_j, has_either);
    RDom rows(0, z.row_tile, 0, (in.rows + z.row_tile - 1) / z.row_tile, "hidden_rows");
    rows.where(has_either);
    s.hidden_tile = rows.y;
    s.hidden = Func("hidden");
    s.hidden(b) = 0;
    s.hidden(b) = s.hidden(b) | s.row_hidden(rows.x, rows.y, b);
    return has_either && s.hidden(b) != 0;
}

void KeyLanes::define_sum(const Visible &visible) {
    s.lane_sum = Func("lane_sum");
    join_keys(
        s, visible, k.lanes, s.lane_sum, s.block_sum, s.weights, 0.0f,
        [](const Expr &x, const Expr &y) { return x + y; }, &s.sum_j);
}

} // namespace gyre::attention
