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
    s.q_scaled(d, y, t) = in.q(d, y, t) * (in.scale * log2_e);
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

void define_edges(Stages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    RDom edge(0, z.keys, 0, z.tile, 0, z.rows / z.tile, "edge");
    const Expr row = edge.z * z.tile + edge.y, key = edge.x;
    edge.where(meets_edge(in, z, edge.z));
    s.edge_key = edge.x;
    s.edge_row = edge.y;
    s.edge_tile = edge.z;
    const FuncRef old = s.weights(edge.x, edge.y, edge.z);
    const int count = s.weights.outputs();
    std::vector<Expr> kept;
    for (int n = 0; n < count; n++)
        kept.push_back(select(is_visible(in, key, row), count > 1 ? old[n] : Expr(old), 0.0f));
    s.weights(edge.x, edge.y, edge.z) = Tuple(kept);
}

} // namespace gyre::backward
