// What the weights of each row come to, by scores and powers that have the bits of those that gradients are formed of.
#include "../math/transcendental.h"
#include "backward_scores.h"

namespace gyre::backward {
using namespace Halide;

Stages totals_algorithm(const Inputs &in, const Sizes &sizes, const Func &totals) {
    const Sizes &z = sizes;
    Stages s;
    s.sizes = z;
    s.totals = totals;
    const Var &j = s.j, &y = s.y, &t = s.t, &l = s.l;
    define_scores(s, in);
    s.weights = Func("weights");
    s.weights(j, y, t) = undef<float>();
    const FormedWeights of = formed_weights(s, in);
    s.weights(of.key, of.tile_row, of.row_tile) = exp2_nonpositive(
        s.scores(of.key, of.tile_row, of.row_tile) + alibi_of(in, of.key, of.row) - in.lse(of.tile_row, of.row_tile));
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
