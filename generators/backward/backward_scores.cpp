#include "backward_scores.h"

namespace gyre::backward {
using namespace Halide;

void define_scores(Stages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &j = s.j, &d = s.d, &y = s.y, &t = s.t;
    RDom score_features(0, in.k_features, "score_features");
    s.score_feature = score_features;
    s.scores = Func("scores");
    s.q_scaled = Func("q_scaled");
    const Expr factor = in.scale * log2_e;
    if (z.edge_lanes > 0) {
        s.q_scaled(d, y, t) = undef<float>();
        RDom rows(0, z.edge_lanes, 0, in.features / z.edge_lanes, 0, z.tile, 0, z.rows / z.tile, "scaled");
        rows.where(rows[3] * z.tile < in.rows);
        s.scaled = {rows[0], rows[1], rows[2], rows[3]};
        const Expr feature = rows[1] * z.edge_lanes + rows[0];
        s.q_scaled(feature, rows[2], rows[3]) = in.q(feature, rows[2], rows[3]) * factor;
    } else {
        s.q_scaled(d, y, t) = in.q(d, y, t) * factor;
    }
    const auto score_product = [&](const Expr &feature) -> Expr {
        return in.k_panels(j % z.key_lanes, feature, j / z.key_lanes) * s.q_scaled(feature, y, t);
    };
    if (z.summed_apart > 0) {
        RDom within(0, z.summed_apart, "part_features"),
            parts(0, (in.k_features + (z.summed_apart - 1)) / z.summed_apart, "score_parts");
        s.score_feature = within;
        s.score_part = parts;
        s.score_parts = Func("score_parts");
        s.score_parts(j, y, t, s.part) += score_product(s.part * z.summed_apart + within);
        s.scores(j, y, t) += s.score_parts(j, y, t, parts);
    } else {
        s.scores(j, y, t) += score_product(score_features);
    }
}

Expr alibi_of(const Inputs &in, const Expr &key, const Expr &row) {
    return cast<float>(key - row + in.alibi_origin) * in.alibi;
}

Expr tile_sees(const Inputs &in, const Sizes &z, const Expr &row_tile, const Expr &first_key, int count) {
    const Expr first_row = row_tile * z.tile;
    return first_row < in.rows && first_key < in.keys && first_key <= first_row + (z.tile - 1) + in.last_visible &&
           first_key + (count - 1) >= first_row + in.first_visible;
}

FormedWeights formed_weights(Stages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    RDom formed(0, z.key_lanes, 0, z.tile, 0, z.rows / z.tile, 0, z.keys / z.key_lanes, "formed");
    formed.where(tile_sees(in, z, formed.z, formed.w * z.key_lanes, z.key_lanes));
    s.formed_key = formed.x;
    s.formed_row = formed.y;
    s.formed_tile = formed.z;
    s.formed_panel = formed.w;
    return {formed.w * z.key_lanes + formed.x, formed.z * z.tile + formed.y, formed.y, formed.z};
}

Expr is_visible(const Inputs &in, const Expr &key, const Expr &row) {
    return key < in.keys && row < in.rows && key <= row + in.last_visible && key >= row + in.first_visible;
}

Expr meets_edge(const Inputs &in, const Sizes &z, const Expr &row_tile) {
    const Expr tile_first = row_tile * z.tile, tile_last = tile_first + z.tile - 1;
    const Expr is_cut = z.keys > in.keys || z.keys - 1 > tile_first + in.last_visible ||
                        0 < tile_last + in.first_visible || tile_last >= in.rows;
    return tile_first < in.rows && is_cut;
}

namespace {

/// Keeps of the weights of a key and a row those that are visible.
void mask_weights(Stages &s, const Expr &visible, const Expr &key, const Expr &tile_row, const Expr &row_tile) {
    const FuncRef old = s.weights(key, tile_row, row_tile);
    const int count = s.weights.outputs();
    std::vector<Expr> kept;
    for (int n = 0; n < count; n++) kept.push_back(select(visible, count > 1 ? old[n] : Expr(old), 0.0f));
    s.weights(key, tile_row, row_tile) = Tuple(kept);
}

/// Vectors of keys that nothing reads stay as they are, and so do those that a tile of rows sees whole.
void define_edges_of_vectors(Stages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    RDom edge(0, z.edge_lanes, 0, z.tile, 0, z.keys / z.edge_lanes, 0, z.rows / z.tile, "edge");
    s.edge_key = edge[0];
    s.edge_row = edge[1];
    s.edge_vector = edge[2];
    s.edge_tile = edge[3];
    const Expr first_key = edge[2] * z.edge_lanes, last_key = first_key + (z.edge_lanes - 1);
    const Expr first_row = edge[3] * z.tile, last_row = first_row + (z.tile - 1);
    edge.where(meets_edge(in, z, edge[3]));
    if (!z.general) { // a tile of keys that a sum takes holds a visible one; the gradient of a bias takes all keys
        const Expr others = z.tile - 1;
        edge.where(first_key < min(in.keys, last_row + 1 + in.last_visible) + others);
        edge.where(last_key >= first_row + in.first_visible - others);
    }
    edge.where(last_key >= in.keys || last_key > first_row + in.last_visible ||
               first_key < last_row + in.first_visible || last_row >= in.rows);
    const Expr row = first_row + edge[1], key = first_key + edge[0];
    const Expr last_visible = select(row < in.rows, min(in.keys - 1, row + in.last_visible), -1);
    mask_weights(s, key <= last_visible && key >= row + in.first_visible, key, edge[1], edge[3]);
}

} // namespace

void define_edges(Stages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    if (z.edge_lanes > 0) return define_edges_of_vectors(s, in);
    RDom edge(0, z.keys, 0, z.tile, 0, z.rows / z.tile, "edge");
    const Expr row = edge.z * z.tile + edge.y, key = edge.x;
    edge.where(meets_edge(in, z, edge.z));
    s.edge_key = edge.x;
    s.edge_row = edge.y;
    s.edge_tile = edge.z;
    mask_weights(s, is_visible(in, key, row), key, edge.y, edge.z);
}

} // namespace gyre::backward
