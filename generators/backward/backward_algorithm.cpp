#include "backward_algorithm.h"

#include "../math/transcendental.h"
#include "backward_general.h"
#include "backward_guard.h"

namespace gyre::backward {
using namespace Halide;
namespace {

Expr alibi_of(const Inputs &in, const Expr &key, const Expr &row) {
    return cast<float>(key - row + in.alibi_origin) * in.alibi;
}

/// P and scale dS of a row and a key, before masking.
Tuple weights(const Inputs &in, const Sizes &z, const Pair &of) {
    const Expr distance = alibi_of(in, of.key, of.row);
    if (!z.capped) {
        const Expr p = exp2_nonpositive(of.product + distance - of.lse);
        return {p, p * (of.prob_grad - of.delta) * in.scale};
    }
    const Expr bent = tanh_accurate(of.product * ln_2 / in.softcap);
    const Expr p = exp2_nonpositive(in.softcap * log2_e * bent + distance - of.lse);
    return {p, p * (of.prob_grad - of.delta) * ((1.0f - bent * bent) * in.scale)};
}

/// True if a row of the tile may see one of `count` keys from the first on, and both exist.
Expr tile_sees(const Inputs &in, const Sizes &z, const Expr &row_tile, const Expr &first_key, int count) {
    const Expr first_row = row_tile * z.tile;
    return first_row < in.rows && first_key < in.keys && first_key <= first_row + (z.tile - 1) + in.last_visible &&
           first_key + (count - 1) >= first_row + in.first_visible;
}

void define_scores(Stages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &j = s.j, &d = s.d, &y = s.y, &t = s.t;
    RDom score_features(0, in.features, "score_features");
    s.score_feature = score_features;
    s.scores = Func("scores");
    s.q_scaled = Func("q_scaled");
    s.q_scaled(d, y, t) = in.q(d, y, t) * (in.scale * log2_e);
    const auto score_product = [&](const Expr &feature) -> Expr {
        return in.k_panels(j % z.key_lanes, feature, j / z.key_lanes) * s.q_scaled(feature, y, t);
    };
    if (z.summed_apart > 0) {
        RDom within(0, z.summed_apart, "part_features"), parts(0, in.features / z.summed_apart, "score_parts");
        s.score_feature = within;
        s.score_part = parts;
        s.score_parts = Func("score_parts");
        s.score_parts(j, y, t, s.part) += score_product(s.part * z.summed_apart + within);
        s.scores(j, y, t) += s.score_parts(j, y, t, parts);
    } else {
        s.scores(j, y, t) += score_product(score_features);
    }
}

/// A register tile at a time, of those that are not masked as a whole.
RDom formed_tiles(Stages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    RDom formed(0, z.key_lanes, 0, z.tile, 0, z.rows / z.tile, 0, z.keys / z.key_lanes, "formed");
    formed.where(tile_sees(in, z, formed.z, formed.w * z.key_lanes, z.key_lanes));
    s.formed_key = formed.x;
    s.formed_row = formed.y;
    s.formed_tile = formed.z;
    s.formed_panel = formed.w;
    return formed;
}

/// Makes 0 of all that is masked at an edge of what is visible, formed or not.
void define_edges(Stages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    RDom edge(0, z.keys, 0, z.tile, 0, z.rows / z.tile, "edge");
    const Expr row = edge.z * z.tile + edge.y, key = edge.x;
    const Expr tile_first = edge.z * z.tile, tile_last = tile_first + z.tile - 1;
    edge.where(tile_first < in.rows);
    edge.where(z.keys > in.keys || z.keys - 1 > tile_first + in.last_visible || 0 < tile_last + in.first_visible ||
               tile_last >= in.rows);
    const Expr visible =
        key < in.keys && row < in.rows && key <= row + in.last_visible && key >= row + in.first_visible;
    s.edge_key = edge.x;
    s.edge_row = edge.y;
    s.edge_tile = edge.z;
    const FuncRef old = s.weights(edge.x, edge.y, edge.z);
    const int count = s.weights.outputs();
    std::vector<Expr> kept;
    for (int n = 0; n < count; n++) kept.push_back(select(visible, count > 1 ? old[n] : Expr(old), 0.0f));
    s.weights(edge.x, edge.y, edge.z) = Tuple(kept);
}

} // namespace

Stages algorithm(const Inputs &in, const Sizes &sizes, const Func &dq, const Func &dk, const Func &dv,
                 const Func &bias_grad) {
    const Sizes &z = sizes;
    Stages s;
    s.sizes = z;
    s.dq = dq;
    s.dk = dk;
    s.dv = dv;
    const Var &j = s.j, &d = s.d, &x = s.x, &u = s.u, &y = s.y, &t = s.t;

    define_scores(s, in);
    RDom prob_features(0, in.features, "prob_features");
    s.prob_feature = prob_features;
    s.prob_grads = Func("prob_grads");
    s.prob_grads(j, y, t) +=
        in.v_panels(j % z.key_lanes, prob_features, j / z.key_lanes) * in.out_grad(prob_features, y, t);

    const auto sees = [&](const Expr &row_tile, const Expr &first_key, int count) {
        return tile_sees(in, z, row_tile, first_key, count);
    };

    s.weights = Func("weights");
    s.weights(j, y, t) = Tuple(std::vector<Expr>(z.general ? 3 : 2, undef<float>()));
    if (z.general) define_general_parts(s, in);
    const RDom formed = formed_tiles(s, in);
    const Expr formed_key = formed.w * z.key_lanes + formed.x;
    const Expr formed_row = formed.z * z.tile + formed.y;
    const Pair pair{s.scores(formed_key, formed.y, formed.z),
                    s.prob_grads(formed_key, formed.y, formed.z),
                    formed_key,
                    formed_row,
                    in.lse(formed.y, formed.z),
                    in.delta(formed.y, formed.z)};
    s.weights(formed_key, formed.y, formed.z) = z.general ? general_weights(s, in, pair) : weights(in, z, pair);
    define_edges(s, in);

    // The sums, over the tiles that see each other alone.
    const auto tiles_see = [&](const Expr &row_tile, const Expr &key_tile) {
        return sees(row_tile, key_tile * z.tile, z.tile);
    };
    define_guarded(s, in);
    const auto pairs = [&](const std::string &name, int count) { return RDom(0, z.tile, 0, count / z.tile, name); };
    RDom keys = pairs("keys", z.keys), k_rows = pairs("k_rows", z.rows), v_rows = pairs("v_rows", z.rows);
    RDom guarded_keys = pairs("guarded_keys", z.keys);
    RDom guarded_k_rows = pairs("guarded_k_rows", z.rows), guarded_v_rows = pairs("guarded_v_rows", z.rows);
    for (RDom *of_keys : {&keys, &guarded_keys}) of_keys->where(tiles_see(t, of_keys->y));
    for (RDom *of_rows : {&k_rows, &v_rows, &guarded_k_rows, &guarded_v_rows}) of_rows->where(tiles_see(of_rows->y, u));
    for (RDom *usual : {&keys, &k_rows, &v_rows}) usual->where(s.guarded() == 0);
    for (RDom *guarded : {&guarded_keys, &guarded_k_rows, &guarded_v_rows}) guarded->where(s.guarded() != 0);
    s.q_key = keys.x;
    s.q_tile = keys.y;
    s.k_row = k_rows.x;
    s.k_tile = k_rows.y;
    s.v_row = v_rows.x;
    s.v_tile = v_rows.y;
    s.guarded_q_key = guarded_keys.x;
    s.guarded_q_tile = guarded_keys.y;
    s.guarded_k_row = guarded_k_rows.x;
    s.guarded_k_tile = guarded_k_rows.y;
    s.guarded_v_row = guarded_v_rows.x;
    s.guarded_v_tile = guarded_v_rows.y;
    s.q_sum = Func("q_sum");
    s.k_sum = Func("k_sum");
    s.v_sum = Func("v_sum");
    const auto of_key = [&](const RDom &n) -> Expr { return s.weights(n.y * z.tile + n.x, y, t)[1]; };
    const auto of_row = [&](const RDom &n, int which) -> Expr { return s.weights(u * z.tile + x, n.x, n.y)[which]; };
    s.q_sum(d, y, t) += of_key(keys) * in.k(d, keys.x, keys.y);
    s.q_sum(d, y, t) +=
        of_key(guarded_keys) * if_weighted(of_key(guarded_keys), in.k(d, guarded_keys.x, guarded_keys.y));
    const auto sum_rows = [&](Func sum, const Func &rows, int which, const RDom &usual, const RDom &guarded) {
        sum(d, x, u) += of_row(usual, which) * rows(d, usual.x, usual.y);
        sum(d, x, u) += of_row(guarded, which) * if_weighted(of_row(guarded, which), rows(d, guarded.x, guarded.y));
    };
    sum_rows(s.k_sum, in.q, 1, k_rows, guarded_k_rows);
    sum_rows(s.v_sum, in.out_grad, 0, v_rows, guarded_v_rows);

    s.dq(d, y, t) = undef<float>();
    s.dk(d, x, u) = undef<float>();
    s.dv(d, x, u) = undef<float>();
    s.dq(d, y, t) += s.q_sum(d, y, t);
    s.dk(d, x, u) += s.k_sum(d, x, u);
    s.dv(d, x, u) += s.v_sum(d, x, u);
    if (z.general) define_bias_grad(s, in, bias_grad);
    return s;
}

Stages totals_algorithm(const Inputs &in, const Sizes &sizes, const Func &totals) {
    const Sizes &z = sizes;
    Stages s;
    s.sizes = z;
    s.totals = totals;
    const Var &j = s.j, &y = s.y, &t = s.t, &l = s.l;
    define_scores(s, in);
    s.weights = Func("weights");
    s.weights(j, y, t) = undef<float>();
    const RDom formed = formed_tiles(s, in);
    const Expr key = formed.w * z.key_lanes + formed.x, row = formed.z * z.tile + formed.y;
    s.weights(key, formed.y, formed.z) =
        exp2_nonpositive(s.scores(key, formed.y, formed.z) + alibi_of(in, key, row) - in.lse(formed.y, formed.z));
    define_edges(s, in);

    RDom panels(0, z.keys / z.key_lanes, "panels"), lanes(0, z.key_lanes, "total_lanes");
    panels.where(tile_sees(in, z, t, panels * z.key_lanes, z.key_lanes));
    s.total_panel = panels;
    s.total_lane = lanes;
    s.lane_totals = Func("lane_totals");
    s.lane_totals(l, y, t) += s.weights(panels * z.key_lanes + l, y, t);
    s.totals(y, t) = undef<float>();
    s.totals(y, t) += s.lane_totals(lanes, y, t);
    return s;
}

} // namespace gyre::backward
