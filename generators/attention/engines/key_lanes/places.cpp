// Where features lie in tuples of the state, and in pairs.
#include "key_lanes.h"

namespace gyre::attention {
using namespace Halide;

Expr GroupsOfVectors::feature(const Sizes &z, int c, const Expr &e) const {
    return e / lanes * (lanes * z.feature_chunk) + c * lanes + e % lanes;
}

Expr GroupsOfVectors::tuple(const Sizes &z, const Expr &d) const {
    return d / (lanes * z.feature_chunk) * lanes + d % lanes;
}

Expr GroupsOfVectors::place(const Sizes &z, const Expr &d) const { return d / lanes % z.feature_chunk; }

Expr GroupsOfPairs::tuple(const Sizes &z, const Expr &d) const { return GroupsOfVectors::tuple(z, pairs.place(d)); }

Expr GroupsOfPairs::place(const Sizes &z, const Expr &d) const { return GroupsOfVectors::place(z, pairs.place(d)); }

} // namespace gyre::attention
