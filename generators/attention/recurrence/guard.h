/// Keeps the values of masked keys out of results, whatever they hold: WHAT is computed.
///
/// A masked key's weight is 0, and 0 times NaN or infinity is NaN. In a block that some row of the task does not see whole, and
/// whose values are not all finite, the product takes 0 in place of each value that its row does not see. Such a block is
/// guarded. Its sums have the same bits as if all values were finite; other blocks go through the product as it is.
#pragma once
#include "blocks.h"

#include <functional>

namespace gyre::attention {

/// Values that are looked at together: neighbouring features, several vectors of them.
int guard_lanes(const Sizes &sizes);

/// s.guarded (b), from s.v_rows, in f32 or as bits of bf16.
void define_guarded(Stages &s, const Inputs &in);

/// Adds to `product`, the sums of a block's weighted values, two updates for guarded blocks: the sums begin again, and take
/// values that their row sees alone. `weight`: of a key for row s.r. The product is s.weighted, s.weighted_rows or
/// s.weighted_sums, by whose arguments rows and features are found.
void define_guarded_product(Stages &s, Halide::Func product, const Visible &visible,
                            const std::function<Halide::Expr(const Halide::Expr &key)> &weight);

} // namespace gyre::attention
