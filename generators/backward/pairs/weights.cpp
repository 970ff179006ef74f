#include "backward/backward_general.h"
#include "backward/pairs/parts.h"
#include "math/bf16_pairs.h"
#include "math/transcendental.h"

namespace gyre::backward {
using namespace Halide;
namespace {

/// P and scale dS of plain calls: what does not depend on both a row and a key is formed before.
void define_plain_weights(PairStages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &j = s.j, &y = s.y, &t = s.t;
    s.row_delta = Func("row_delta");
    s.row_delta(y, t) = in.delta(y, t) * in.scale;
    s.exponents = Func("exponents");
    s.exponents(j, y, t) = s.scores(j, y, t) * (in.scale * log2_e) + alibi_of(in, j, t * z.tile + y) - in.lse(y, t);
    const Expr p = exp2_nonpositive_bf16(s.exponents(j, y, t));
    s.weights = Func("weights");
    s.weights(j, y, t) = Tuple(p, p * (s.prob_grads(j, y, t) * in.scale - s.row_delta(y, t)));
}

/// P and scale dS in f32, before masking; general: and dS before cap and scale.
void define_weights_of_pairs(PairStages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &j = s.j, &y = s.y, &t = s.t;
    if (z.general) define_general_parts(s, in);
    if (!z.general && !z.capped) return define_plain_weights(s, in);
    const Pair of{s.scores(j, y, t) * (in.scale * log2_e),
                  s.prob_grads(j, y, t),
                  j,
                  t * z.tile + y,
                  in.lse(y, t),
                  in.delta(y, t)};
    s.weights = Func("weights");
    s.weights(j, y, t) = z.general ? general_weights(s, in, of) : weights(in, z, of);
}

/// Makes 0 of all weights that are masked at an edge of what is visible, formed or not.
void define_edges_of_pairs(PairStages &s, const Inputs &in, const KeyPairs &keys) {
    const Sizes &z = s.sizes;
    RDom edge(0, keys.lanes, 0, keys.vectors(), 0, z.keys / z.key_lanes, 0, z.tile / 2, 0, z.rows / z.tile, "edge");
    const Expr lane = edge[0], vector = edge[1], panel = edge[2], pair = edge[3], tile = edge[4];
    edge.where(meets_edge(in, z, tile));
    edge.where(panel * z.key_lanes < in.keys);
    s.edge_lane = edge[0];
    s.edge_vector = edge[1];
    s.edge_panel = edge[2];
    s.edge_pair = edge[3];
    s.edge_tile = edge[4];
    const Expr key = keys.key(panel, vector, lane);
    const Expr first = keys.first_key(panel, vector, lane);
    const Expr row = tile * z.tile + pair * 2, row_of_keys = row + vector % 2;
    const Expr of_rows = bits_of(is_visible(in, key, row), is_visible(in, key, row + 1));
    const Expr of_keys =
        bits_of(is_visible(in, first, row_of_keys), is_visible(in, first + keys.distance(), row_of_keys));
    const FuncRef old = s.weight_pairs(key, pair, tile);
    std::vector<Expr> kept = {old[0] & of_rows, old[1] & of_rows, old[2] & of_keys};
    for (int n = 3; n < s.weight_pairs.outputs(); n++)
        kept.push_back(select(is_visible(in, key, row + (n - 3)), old[n], 0.0f));
    s.weight_pairs(key, pair, tile) = Tuple(kept);
}

} // namespace

void define_weight_pairs(PairStages &s, const Inputs &in, const KeyPairs &keys) {
    const Sizes &z = s.sizes;
    const Var &j = s.j, &c = s.c, &t = s.t;
    define_weights_of_pairs(s, in);
    const int parts = z.general ? 5 : 3;
    std::vector<Expr> nothing(3, undef<uint32_t>());
    nothing.resize(parts, undef<float>());
    s.weight_pairs = Func("weight_pairs");
    s.weight_pairs(j, c, t) = Tuple(nothing);

    RDom formed(0, keys.lanes, 0, keys.vectors(), 0, z.tile / 2, 0, z.rows / z.tile, 0, z.keys / z.key_lanes, "formed");
    const Expr lane = formed[0], vector = formed[1], pair = formed[2], tile = formed[3], panel = formed[4];
    formed.where(tile_sees(in, z, tile, panel * z.key_lanes, z.key_lanes));
    s.formed_lane = formed[0];
    s.formed_vector = formed[1];
    s.formed_pair = formed[2];
    s.formed_tile = formed[3];
    s.formed_panel = formed[4];
    const Expr key = keys.key(panel, vector, lane);
    const Expr first = keys.first_key(panel, vector, lane);
    const auto weight = [&](const Expr &of_key, const Expr &row, int which) -> Expr {
        return s.weights(of_key, row, tile)[which];
    };
    const auto of_rows = [&](int which) {
        return bf16_pair(weight(key, pair * 2, which), weight(key, pair * 2 + 1, which));
    };
    const Expr row = pair * 2 + vector % 2;
    std::vector<Expr> formed_parts = {of_rows(0), of_rows(1),
                                      bf16_pair(weight(first, row, 1), weight(first + keys.distance(), row, 1))};
    for (int n = 3; n < parts; n++) formed_parts.push_back(weight(key, pair * 2 + (n - 3), 2));
    s.weight_pairs(key, pair, tile) = Tuple(formed_parts);
    define_edges_of_pairs(s, in, keys);
}

} // namespace gyre::backward
