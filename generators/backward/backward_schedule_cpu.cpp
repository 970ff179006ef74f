#include "backward_parts.h"

namespace gyre::backward {
using namespace Halide;
namespace {

constexpr int cache_line = 16; // f32 elements

/// One of the three sums: a register tile of `vectors` vectors of features and `tile` rows or keys is summed in registers,
/// then added to what is there.
struct SummedTiles {
    const Sizes &z;
    int lanes;
    Var feature, scalar;

    template <typename Tile>
    Var add(Stage total, const Tile &tile) const {
        const Var chunk(Internal::unique_name("chunk")), within("within");
        total.split(feature, chunk, within, z.features)
            .reorder(within, scalar, chunk, tile)
            .vectorize(within, lanes)
            .unroll(within)
            .unroll(scalar);
        return chunk;
    }
    void sum_at(Func sum, Func total, const Var &chunk) const {
        sum.compute_at(total, chunk).vectorize(feature, lanes).unroll(feature).unroll(scalar);
    }
    void sum(Stage update, const RVar &within, const RVar &tile) const {
        update.reorder(feature, scalar, within, tile).vectorize(feature, lanes).unroll(feature).unroll(scalar);
    }
};

} // namespace

void schedule_guard(Stages &s, int w) {
    Func *const peaks[] = {&s.row_peaks, &s.key_peaks};
    for (int n = 0; n < 2; n++) {
        peaks[n]->compute_root().bound(s.l, 0, s.sizes.features).vectorize(s.l, w).unroll(s.l);
        peaks[n]
            ->update()
            .reorder(s.l, s.peak_row[n], s.peak_chunk[n], s.peak_tile[n])
            .vectorize(s.l, w)
            .unroll(s.l)
            .unroll(s.peak_row[n]);
    }
    s.guarded.compute_root().update().unscheduled();
}

void schedule_sums(Stages &s, int w) {
    struct Loops {
        RVar within, tile;
    };
    const auto schedule = [&](int n, Func total, Func sum, const Var &scalar, const Var &tile, const Loops &usual,
                              const Loops &guarded) {
        const SummedTiles tiles{s.sizes, w, s.d, scalar};
        tiles.sum_at(sum, total, tiles.add(total.update(), tile));
        tiles.sum(sum.update(0), usual.within, usual.tile);
        if (!s.sizes.guards_apart) return tiles.sum(sum.update(1), guarded.within, guarded.tile);
        Func apart = s.guarded_sums[n];
        tiles.sum_at(apart, total, tiles.add(total.update(1), s.guarded_tiles[n]));
        tiles.sum(apart.update(), guarded.within, guarded.tile);
    };
    schedule(0, s.dq, s.q_sum, s.y, s.t, {s.q_key, s.q_tile}, {s.guarded_q_key, s.guarded_q_tile});
    schedule(1, s.dk, s.k_sum, s.x, s.u, {s.k_row, s.k_tile}, {s.guarded_k_row, s.guarded_k_tile});
    schedule(2, s.dv, s.v_sum, s.x, s.u, {s.v_row, s.v_tile}, {s.guarded_v_row, s.guarded_v_tile});
}

// Biases and random words are laid out for a block once; whoever asks for none of them finds them skipped.
void schedule_general(Stages &s, int w) {
    const Sizes &z = s.sizes;
    Var jo("jo"), ji("ji"), word("word");
    s.biases.compute_root().bound(s.j, 0, z.keys).bound(s.i, 0, z.rows).vectorize(s.j, w);
    s.biases.update().vectorize(s.bias_key, w, TailStrategy::GuardWithIf);
    // Neighbours along the lanes are 4 keys apart, and their four words are stored side by side.
    s.keep.compute_root()
        .bound(s.j, 0, z.keys)
        .bound(s.i, 0, z.rows)
        .split(s.j, ji, word, 4)
        .split(ji, jo, ji, w, TailStrategy::GuardWithIf)
        .reorder(ji, word, jo, s.i)
        .vectorize(ji)
        .unroll(word);
    s.draws.compute_at(s.keep, jo).vectorize(s.a, w);
    Stage sum = s.bias_grad.update();
    sum.reorder(s.j, s.key_sum, s.row_sum, s.i).vectorize(s.j, w, TailStrategy::GuardWithIf);
}

namespace {

/// A product over features, of a register tile.
void schedule_product(Stages &s, Func product, const RVar &feature, int w) {
    product.compute_at(s.weights, s.formed_tile).vectorize(s.j, w).unroll(s.j).unroll(s.y);
    product.update().reorder(s.j, s.y, feature).vectorize(s.j, w).unroll(s.j).unroll(s.y);
}

/// Scores of a register tile, and what becomes of them: vectors are of keys and scalars of rows.
void schedule_weights(Stages &s, int w) {
    const Sizes &z = s.sizes;
    // Rows are a cache line longer than they need be: at a power of two they would share a few sets of the L1 cache.
    s.q_scaled.compute_root()
        .bound_storage(s.d, most_features + cache_line)
        .bound(s.y, 0, z.tile)
        .bound(s.t, 0, z.rows / z.tile);
    if (z.edge_lanes > 0)
        s.q_scaled.update().allow_race_conditions().vectorize(s.scaled.front());
    else
        s.q_scaled.vectorize(s.d, w, TailStrategy::RoundUp); // of rows that are whole vectors
    s.weights.compute_root().bound(s.j, 0, z.keys).bound(s.y, 0, z.tile).bound(s.t, 0, z.rows / z.tile);
    s.weights.update(0)
        .allow_race_conditions()
        .reorder(s.formed_key, s.formed_row, s.formed_tile, s.formed_panel)
        .vectorize(s.formed_key, w)
        .unroll(s.formed_key)
        .unroll(s.formed_row)
        .never_partition_all();
    Stage edges = s.weights.update(1).allow_race_conditions();
    if (z.edge_lanes > 0)
        edges.reorder(s.edge_key, s.edge_row, s.edge_vector, s.edge_tile).vectorize(s.edge_key).unroll(s.edge_row);
    else
        edges.reorder(s.edge_key, s.edge_row, s.edge_tile).vectorize(s.edge_key, w);
    const RVar summed = z.summed_apart > 0 ? s.score_part : s.score_feature;
    schedule_product(s, s.scores, summed, w);
    if (z.summed_apart == 0) return;
    s.score_parts.compute_at(s.scores, s.score_part).vectorize(s.j, w).unroll(s.j).unroll(s.y);
    s.score_parts.update().reorder(s.j, s.y, s.score_feature).vectorize(s.j, w).unroll(s.j).unroll(s.y);
}

} // namespace

// P and dS of a block are formed a register tile at a time, both products one after the other, and stay in L2 for the three
// sums. All five products run in register tiles of vectors x tile: in the first two vectors are of keys and scalars of rows,
// in the sums vectors are of features.
void schedule_cpu(Stages &s, const Inputs &in, const Knobs &k) {
    const int w = k.lanes;
    schedule_guard(s, w);
    schedule_weights(s, w);
    schedule_product(s, s.prob_grads, s.prob_feature, w);
    schedule_sums(s, w);
    if (!s.sizes.general) {
        if (s.sizes.edge_lanes > 0) s.weights.update(0).specialize(in.alibi == 0.0f);
        return;
    }
    schedule_general(s, w);
    s.weights.update(0).specialize(in.softcap > 0.0f);
}

// Lanes of a row's panels are summed in registers, then one after the other.
void schedule_totals_cpu(Stages &s, const Knobs &k) {
    const int w = k.lanes;
    schedule_weights(s, w);
    s.totals.update().reorder(s.total_lane, s.y, s.t).unroll(s.total_lane);
    s.lane_totals.compute_at(s.totals, s.y).vectorize(s.l, w).unroll(s.l);
    s.lane_totals.update().reorder(s.l, s.total_panel).vectorize(s.l, w).unroll(s.l);
}

} // namespace gyre::backward
