#include "backward/backward_guard.h"
#include "backward/backward_scores.h"
#include "backward/pairs/parts.h"
#include "passes/instructions/bf16_dot.h"

namespace gyre::backward {
using namespace Halide;
namespace {

/// A pair, but 0 for the numbers that are multiplied by a weight of 0.
Expr pair_if_weighted(const Expr &weights, const Expr &pair) {
    return pair & bits_of((weights & Expr(0x7fffu)) != 0, (weights & Expr(0x7fff0000u)) != 0);
}

} // namespace

void define_sums(PairStages &s, const Inputs &in, const KeyPairs &keys) {
    const Sizes &z = s.sizes;
    const Var &d = s.d, &x = s.x, &u = s.u, &y = s.y, &t = s.t;
    define_guarded(s, in);
    const auto panels = [&](const char *name, bool guarded) {
        RDom n(0, z.key_lanes / 2, 0, z.keys / z.key_lanes, name);
        n.where(tile_sees(in, z, t, n.y * z.key_lanes, z.key_lanes));
        n.where(guarded ? s.guarded() != 0 : s.guarded() == 0);
        return n;
    };
    const auto rows = [&](const char *name, bool guarded) {
        RDom n(0, z.tile / 2, 0, z.rows / z.tile, name);
        n.where(tile_sees(in, z, n.y, u * z.tile, z.tile));
        n.where(guarded ? s.guarded() != 0 : s.guarded() == 0);
        return n;
    };
    const auto add = [&](Func &sum, const std::vector<Var> &place, const Expr &weights, const Expr &pair,
                         bool guarded) {
        sum(place) = bf16_dot(sum(place), weights, guarded ? pair_if_weighted(weights, pair) : pair);
    };
    const auto sum_keys = [&](const RDom &n, bool guarded) {
        add(s.q_sum, {d, y, t}, s.weight_pairs(keys.place(n.y, n.x, y), y / 2, t)[2], s.k_keys(d, n.x, n.y), guarded);
    };
    const auto sum_rows = [&](Func &sum, const Func &of, int which, const RDom &n, bool guarded) {
        add(sum, {d, x, u}, s.weight_pairs(u * z.tile + x, n.x, n.y)[which], of(d, n.x, n.y), guarded);
    };
    const RDom q_usual = panels("keys", false), q_guarded = panels("guarded_keys", true);
    const RDom k_usual = rows("k_rows", false), k_guarded = rows("guarded_k_rows", true);
    const RDom v_usual = rows("v_rows", false), v_guarded = rows("guarded_v_rows", true);
    name_loops(s, {q_usual, k_usual, v_usual}, {q_guarded, k_guarded, v_guarded});
    s.q_sum = Func("q_sum");
    s.k_sum = Func("k_sum");
    s.v_sum = Func("v_sum");
    s.q_sum(d, y, t) = 0.0f;
    s.k_sum(d, x, u) = 0.0f;
    s.v_sum(d, x, u) = 0.0f;
    sum_keys(q_usual, false);
    sum_keys(q_guarded, true);
    sum_rows(s.k_sum, s.q_rows, 1, k_usual, false);
    sum_rows(s.k_sum, s.q_rows, 1, k_guarded, true);
    sum_rows(s.v_sum, s.out_grad_rows, 0, v_usual, false);
    sum_rows(s.v_sum, s.out_grad_rows, 0, v_guarded, true);
}

} // namespace gyre::backward
