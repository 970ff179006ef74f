/// The feature map of linear attention, elu + 1, where its values and its gradients are formed.
#pragma once
#include <Halide.h>

namespace gyre {

/// x + 1 for x > 0, else e^x: relative error below 4e-7 near 0, growing to 4e-6 at -44; below, it is what it is there (on
/// 32-bit ARM below -36). NaN stays NaN.
Halide::Expr feature(const Halide::Expr &x, const Halide::Target &target);

/// Its derivative: 1 for x > 0, else e^x.
Halide::Expr feature_slope(const Halide::Expr &x, const Halide::Target &target);

} // namespace gyre
