#include "state_layout.h"

namespace gyre::attention {
using namespace Halide;
namespace {

class RowsAlongLanes : public StateLayout {
    Expr feature(const Sizes &z, int c, const Expr &e) const override { return e * z.feature_chunk + c; }
    Expr tuple(const Sizes &z, const Expr &d) const override { return d / z.feature_chunk; }
    Expr place(const Sizes &z, const Expr &d) const override { return d % z.feature_chunk; }
    float nothing() const override { return 0.0f; }

    Rescaling rescaling(const Expr &before, const Expr &block_max, const Power &power) const override {
        const Expr maximum = max(before, block_max);
        const Expr keep = power(before - maximum);
        return {maximum, keep, power(block_max - maximum)};
    }

    Expr normalised(const Expr &sum, const Expr &inverse) const override {
        // By bits: a compiler that does not expect NaN may take it for 0.
        return select(reinterpret<uint32_t>(inverse) != Expr(0u), sum * inverse, 0.0f);
    }
};

int tuples(const Sizes &z) { return z.v_head_dim / z.feature_chunk; }

} // namespace

Expr StateLayout::sum(const Func &state, const Sizes &z, const At &at) const {
    std::vector<Expr> accumulators;
    const Expr of_feature = tuple(z, at.d), e = at.tuples.defined() ? min(of_feature, at.tuples - 1) : of_feature;
    for (int c = 0; c < z.feature_chunk; c++) accumulators.push_back(state(at.r, at.t, e)[c]);
    return mux(place(z, at.d), accumulators);
}

Expr FeaturesAlongLanes::feature(const Sizes &z, int c, const Expr &e) const { return c * tuples(z) + e; }
Expr FeaturesAlongLanes::tuple(const Sizes &z, const Expr &d) const { return d % tuples(z); }
Expr FeaturesAlongLanes::place(const Sizes &z, const Expr &d) const { return d / tuples(z); }

// Sums that begin with -0 are the same but for the sign of 0, and compilers do not turn its storing into scalar code.
float FeaturesAlongLanes::nothing() const { return -0.0f; }

// One of the two powers is 2^0: less code.
Rescaling FeaturesAlongLanes::rescaling(const Expr &before, const Expr &block_max, const Power &power) const {
    const Expr difference = before - block_max, lower = power(-abs(difference));
    return {max(before, block_max), select(difference < 0.0f, lower, 1.0f), select(difference < 0.0f, 1.0f, lower)};
}

// By bits, without a branch for each vector.
Expr FeaturesAlongLanes::normalised(const Expr &sum, const Expr &inverse) const {
    const Expr mask = select(reinterpret<uint32_t>(inverse) != Expr(0u), Expr(~0u), Expr(0u));
    return reinterpret<float>(reinterpret<uint32_t>(sum * inverse) & mask);
}

const StateLayout &rows_along_lanes() {
    static const RowsAlongLanes layout;
    return layout;
}

const StateLayout &features_along_lanes() {
    static const FeaturesAlongLanes layout;
    return layout;
}

} // namespace gyre::attention
