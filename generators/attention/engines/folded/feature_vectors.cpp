#include "feature_vectors.h"

namespace gyre::attention {
using namespace Halide;

void FeatureVectors::define_product_of_values(const Inputs &, const Visible &visible) {
    FoldedStages &s = stages();
    const Var &r = s.r, &t = s.t, &b = s.b, &d = s.d;
    s.weighted_rows = Func("weighted_rows");
    s.weighted_rows(d, r, t, b) =
        value_weight(0) * s.operands.v_rows(d, 0, b); // a block that is computed has a first key
    const RDom keys = keys_in_sight(visible, "more", 1);
    s.value_j = keys;
    s.weighted_rows(d, r, t, b) += value_weight(keys) * s.operands.v_rows(d, keys, b);
    // Sums that nothing else changes stay in registers.
    s.weighted_sums = Func("weighted_sums");
    s.weighted_sums(d, r, t, b) = s.weighted_rows(d, r, t, b);
    guard(s.weighted_sums, visible, {r, d});
    s.weighted_lanes = transpose(s.weighted_sums, s.sizes.lanes, "weighted_lanes");
    s.weighted(r, d, t, b) = s.weighted_lanes.out(r, d, t, b);
}

} // namespace gyre::attention
