/// How the accumulators of a row's features stand in the state, (r, t, e), whose tuples hold feature_chunk of them each.
#pragma once
#include "sizes.h"

#include <Halide.h>
#include <functional>

namespace gyre::attention {

/// What a block does to a row of the state: the new maximum, and what its sums so far and those of the block are multiplied by.
struct Rescaling {
    Halide::Expr maximum, keep, add;
};
/// 2^x, for a difference of scores that is not positive.
using Power = std::function<Halide::Expr(const Halide::Expr &difference)>;

class StateLayout {
public:
    virtual ~StateLayout() = default;

    /// The feature of element c of tuple e, as weighted values are counted.
    virtual Halide::Expr feature(const Sizes &z, int c, const Halide::Expr &e) const = 0;
    /// The tuple of feature d, and its place there.
    virtual Halide::Expr tuple(const Sizes &z, const Halide::Expr &d) const = 0;
    virtual Halide::Expr place(const Sizes &z, const Halide::Expr &d) const = 0;
    /// The accumulator of feature d of row r of row tile t. `tuples`: there are no more; undefined: as many as the kernel's head size has.
    struct At {
        Halide::Var r, t, d;
        Halide::Expr tuples;
    };
    virtual Halide::Expr sum(const Halide::Func &state, const Sizes &z, const At &at) const;
    /// What sums begin with.
    virtual float nothing() const = 0;
    virtual Rescaling rescaling(const Halide::Expr &maximum, const Halide::Expr &block_max,
                                const Power &power) const = 0;
    /// A sum times the inverse of its row's, or 0 where that is 0: the accumulators of rows that see nothing hold whatever masked
    /// values were, NaNs included.
    virtual Halide::Expr normalised(const Halide::Expr &sum, const Halide::Expr &inverse) const = 0;
};

/// Features are along the lanes: neighbours in e are neighbouring features.
class FeaturesAlongLanes : public StateLayout {
public:
    Halide::Expr feature(const Sizes &z, int c, const Halide::Expr &e) const override;
    Halide::Expr tuple(const Sizes &z, const Halide::Expr &d) const override;
    Halide::Expr place(const Sizes &z, const Halide::Expr &d) const override;
    float nothing() const override;
    Rescaling rescaling(const Halide::Expr &maximum, const Halide::Expr &block_max, const Power &power) const override;
    Halide::Expr normalised(const Halide::Expr &sum, const Halide::Expr &inverse) const override;
};

/// Rows are along the lanes, and a tuple holds neighbouring features.
const StateLayout &rows_along_lanes();
const StateLayout &features_along_lanes();

} // namespace gyre::attention
