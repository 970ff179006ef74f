#include "backward_algorithm.h"

#include "../math/transcendental.h"
#include "backward_general.h"
#include "backward_guard.h"
#include "backward_scores.h"

namespace gyre::backward {
using namespace Halide;

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

namespace {

void define_prob_grads(Stages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &j = s.j, &y = s.y, &t = s.t;
    RDom prob_features(0, in.v_features, "prob_features");
    s.prob_feature = prob_features;
    s.prob_grads = Func("prob_grads");
    s.prob_grads(j, y, t) +=
        in.v_panels(j % z.key_lanes, prob_features, j / z.key_lanes) * in.out_grad(prob_features, y, t);
}

void define_weights(Stages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &j = s.j, &y = s.y, &t = s.t;
    s.weights = Func("weights");
    s.weights(j, y, t) = Tuple(std::vector<Expr>(z.general ? 3 : 2, undef<float>()));
    if (z.general) define_general_parts(s, in);
    const FormedWeights of = formed_weights(s, in);
    const Pair pair{s.scores(of.key, of.tile_row, of.row_tile),
                    s.prob_grads(of.key, of.tile_row, of.row_tile),
                    of.key,
                    of.row,
                    in.lse(of.tile_row, of.row_tile),
                    in.delta(of.tile_row, of.row_tile)};
    s.weights(of.key, of.tile_row, of.row_tile) = z.general ? general_weights(s, in, pair) : weights(in, z, pair);
    define_edges(s, in);
}

/// The sums, over the tiles that see each other alone.
void define_sums(Stages &s, const Inputs &in) {
    const Sizes &z = s.sizes;
    const Var &d = s.d, &x = s.x, &u = s.u, &y = s.y, &t = s.t;
    const auto tiles_see = [&](const Expr &row_tile, const Expr &key_tile) {
        return tile_sees(in, z, row_tile, key_tile * z.tile, z.tile);
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
    name_loops(s, {keys, k_rows, v_rows}, {guarded_keys, guarded_k_rows, guarded_v_rows});
    s.q_sum = Func("q_sum");
    s.k_sum = Func("k_sum");
    s.v_sum = Func("v_sum");
    const auto of_key = [&](const RDom &n) -> Expr { return s.weights(n.y * z.tile + n.x, y, t)[1]; };
    const auto of_row = [&](const RDom &n, int which) -> Expr { return s.weights(u * z.tile + x, n.x, n.y)[which]; };
    const auto guarded_sum = [&](int n, const Func &usual) {
        return z.guards_apart ? s.guarded_sums[n] = Func("guarded_sum_" + std::to_string(n)) : usual;
    };
    s.q_sum(d, y, t) += of_key(keys) * in.k(d, keys.x, keys.y);
    guarded_sum(0, s.q_sum)(d, y, t) +=
        of_key(guarded_keys) * if_weighted(of_key(guarded_keys), in.k(d, guarded_keys.x, guarded_keys.y));
    const auto sum_rows = [&](Func sum, int n, const Func &rows, int which, const RDom &usual, const RDom &guarded) {
        sum(d, x, u) += of_row(usual, which) * rows(d, usual.x, usual.y);
        guarded_sum(n, sum)(d, x, u) +=
            of_row(guarded, which) * if_weighted(of_row(guarded, which), rows(d, guarded.x, guarded.y));
    };
    sum_rows(s.k_sum, 1, in.q, 1, k_rows, guarded_k_rows);
    sum_rows(s.v_sum, 2, in.out_grad, 0, v_rows, guarded_v_rows);
}

} // namespace

void name_loops(Stages &s, const SumLoops &usual, const SumLoops &guarded) {
    s.q_key = usual.q.x;
    s.q_tile = usual.q.y;
    s.k_row = usual.k.x;
    s.k_tile = usual.k.y;
    s.v_row = usual.v.x;
    s.v_tile = usual.v.y;
    s.guarded_q_key = guarded.q.x;
    s.guarded_q_tile = guarded.q.y;
    s.guarded_k_row = guarded.k.x;
    s.guarded_k_tile = guarded.k.y;
    s.guarded_v_row = guarded.v.x;
    s.guarded_v_tile = guarded.v.y;
}

void add_sums(Stages &s, const Func &dq, const Func &dk, const Func &dv) {
    const Var &d = s.d, &x = s.x, &u = s.u, &y = s.y, &t = s.t;
    s.dq = dq;
    s.dk = dk;
    s.dv = dv;
    s.dq(d, y, t) = undef<float>();
    s.dk(d, x, u) = undef<float>();
    s.dv(d, x, u) = undef<float>();
    s.dq(d, y, t) += s.q_sum(d, y, t);
    s.dk(d, x, u) += s.k_sum(d, x, u);
    s.dv(d, x, u) += s.v_sum(d, x, u);
    if (!s.sizes.guards_apart) return;
    for (int n = 0; n < 3; n++) {
        Func &total = n == 0 ? s.dq : n == 1 ? s.dk : s.dv;
        const Var &of_tile = n == 0 ? y : x;
        RDom tiles(0, (n == 0 ? s.sizes.rows : s.sizes.keys) / s.sizes.tile, "guarded_tiles");
        tiles.where(s.guarded() != 0);
        s.guarded_tiles[n] = tiles;
        total(d, of_tile, tiles) += s.guarded_sums[n](d, of_tile, tiles);
    }
}

Stages algorithm(const Inputs &in, const Sizes &sizes, const Func &dq, const Func &dk, const Func &dv,
                 const Func &bias_grad) {
    Stages s;
    s.sizes = sizes;
    define_scores(s, in);
    define_prob_grads(s, in);
    define_weights(s, in);
    define_sums(s, in);
    add_sums(s, dq, dk, dv);
    if (sizes.general)
        define_bias_grad(s, in, bias_grad, [&](const Expr &key, const Expr &row) -> Expr {
            return s.weights(key, row % sizes.tile, row / sizes.tile)[2];
        });
    return s;
}

} // namespace gyre::backward
