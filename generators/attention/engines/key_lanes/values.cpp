// Weighted values.
#include "attention/variants/dropout/kept_along_keys.h"
#include "key_lanes.h"

namespace gyre::attention {
using namespace Halide;

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
        const Expr of_turn = spreads_values(vectors) ? key_of_turn(g, key_of_group) : key_of_group;
        const Expr key = g * value_keys + of_turn, first = first_of(c);
        const Expr value = facts.in_pairs ? of_pair(v_rows, (first + v / 2 * 2) * n, l, v % 2, key)
                                          : OperandStages::at(v_rows, (first + v) * n + l, key, b, t);
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

void KeyLanes::define_kept_weights(const Inputs &in, const Visible &visible) {
    define_kept_along_keys(s, in, visible, value_keys, s.weights);
}

void KeyLanes::define_product_of_values(const Inputs &in, const Visible &visible) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b, &d = s.d;
    const int chunk_vectors = value_features / k.lanes;
    s.weighted_rows = Func("weighted_rows");
    s.weighted_rows(d, r, t, b) = layout().nothing();
    if (z.padded) { // whole chunks, then what is left of the call's features, as many vectors of it as there are
        const Expr vectors = (in.v_head_dim + (k.lanes - 1)) / k.lanes, whole = vectors / chunk_vectors;
        const Expr in_chunks = spreads() ? !gains_by_places(in.v_head_dim) : Internal::const_true();
        add_values(in, visible, chunk_vectors, whole, 0, in_chunks);
        for (int left = 1; left < chunk_vectors; left++)
            add_values(in, visible, left, 1, whole, in_chunks && vectors % chunk_vectors == left);
        // Rows that are read from several places are whole, because a processor reads ahead of few places.
        for (const int row : rows_of_places()) add_values(in, visible, row, 1, 0, vectors == row);
    } else {
        add_values(in, visible, chunk_vectors, z.v_head_dim / value_features, 0, Internal::const_true());
    }
    guard(s.weighted_rows, visible, {r, facts.in_pairs ? pairs.feature(d) : Expr(d)});
    s.weighted(r, d, t, b) = s.weighted_rows(d, r, t, b);
}

/// A register tile of features takes the values of a group of keys, which L1 keeps for the next row.
void KeyLanes::schedule_values() {
    const Sizes &z = s.sizes;
    const int w = k.lanes;
    s.weighted_rows.compute_at(s.state, s.block)
        .bound_storage(s.b, 1)
        .bound_storage(s.t, z.task_tiles)
        .bound(s.d, 0, s.feature_groups * (w * z.feature_chunk))
        .bound_storage(s.d, z.v_head_dim)
        .bound(s.r, 0, z.row_tile)
        .vectorize(s.d, w);
    for (size_t i = 0; i < s.value_sums.size(); i++) {
        const ValueSum &sum = s.value_sums[i];
        const RVar key(value_key_loop(i)), chunk(value_chunk_loop), group(value_group_loop);
        Stage update = s.weighted_rows.update(static_cast<int>(i));
        update.rename(sum.chunk, chunk).rename(sum.group, group).allow_race_conditions();
        if (facts.transposes_keys)
            update.reorder(sum.lane, sum.vector, s.r, chunk, s.t, group);
        else
            update.reorder(sum.lane, sum.vector, chunk, s.r, s.t, group);
        update.vectorize(sum.lane).unroll(sum.vector).never_partition_all();
        if (facts.transposes_keys) unroll_rows(update, s.weighted_rows, s.r);
        // Asking for a line reads any memory but registers, for all that the compiler knows.
        Func of_group = sum.of_group;
        const std::vector<Var> at = of_group.args();
        of_group.compute_at(s.weighted_rows, chunk)
            .store_in(MemoryType::Register)
            .bound(s.l, 0, w)
            .bound(at[1], 0, sum.vectors)
            .bound(at[2], 0, sum.keys_at_once)
            .vectorize(s.l)
            .unroll(at[1])
            .unroll(at[2]);
        Stage of_key = of_group.update(0);
        of_key.rename(sum.key, key);
        if (facts.transposes_keys) { // all rows of a tile take a value while it is in a register
            of_group.bound(s.r, 0, z.row_tile);
            unroll_rows(of_group, of_group, s.r);
            of_key.reorder(s.l, at[1], at[2], s.r, key);
            unroll_rows(of_key, of_group, s.r);
        } else {
            of_key.reorder(s.l, at[1], at[2], key);
        }
        of_key.vectorize(s.l).unroll(at[1]).unroll(at[2]).never_partition_all();
        if (sum.keys_at_once > 1)
            of_group.update(1).reorder(s.l, at[1], sum.last_key).vectorize(s.l).unroll(at[1]).never_partition_all();
    }
    schedule_guarded_rows(s, s.weighted_rows, w, false);
}

} // namespace gyre::attention
