#include "linear_algorithm.h"

namespace gyre::linear {
using namespace Halide;

Stages algorithm(const Inputs &in, const Sizes &z, const Func &out) {
    Stages s;
    s.sizes = z;
    s.out = out;
    const Var &e = s.e, &j = s.j, &y = s.y, &t = s.t;

    RDom features(0, in.depth, "score_features");
    s.score_feature = features;
    s.scores = Func("scores");
    s.scores(j, y, t) += in.k_panels(j % z.key_lanes, features, j / z.key_lanes) * in.q(features, t * z.tile + y);

    // The panels that a row tile sees.
    RDom formed(0, z.key_lanes, 0, z.rows / z.key_lanes, "formed");
    formed.where(in.causal && formed.y * z.key_lanes <= t * z.tile + (z.tile - 1));
    s.formed_key = formed.x;
    s.formed_panel = formed.y;
    const Expr key = formed.y * z.key_lanes + formed.x;
    s.weights = Func("weights");
    s.weights(j, y, t) = undef<float>();
    s.weights(key, y, t) = select(key <= t * z.tile + y, s.scores(key, y, t), 0.0f);

    RDom keys(0, z.tile, 0, z.rows / z.tile, "keys");
    keys.where(in.causal && keys.y < t);
    s.summed_key = keys.x;
    s.summed_tile = keys.y;
    const Expr summed = keys.y * z.tile + keys.x;
    // A row takes no key of its own tile that it does not see, since 0 times what the value holds need not be 0.
    RDom own(0, z.tile, "own_keys");
    own.where(in.causal && own <= y);
    s.own_key = own;
    RDom depth(0, in.depth, "state_features");
    depth.where(in.stateful);
    s.state_feature = depth;
    s.sum = Func("sum");
    s.sum(e, y, t) = 0.0f;
    s.sum(e, y, t) += s.weights(summed, y, t) * in.v(e, summed);
    s.sum(e, y, t) += s.weights(t * z.tile + own, y, t) * in.v(e, t * z.tile + own);
    s.sum(e, y, t) += in.q(depth, t * z.tile + y) * in.state(e, depth);
    s.out(e, y, t) = undef<float>();
    s.out(e, y, t) += s.sum(e, y, t);
    return s;
}

} // namespace gyre::linear
