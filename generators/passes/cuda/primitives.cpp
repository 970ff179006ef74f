#include "primitives.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;

namespace {
Expr pure(const char *name, const Expr &x) { return Call::make(Float(32), name, {x}, Call::PureExtern); }
} // namespace

Expr cos_pi(const Expr &x) { return pure("gyre_cos_pi", x); }
Expr sin_pi(const Expr &x) { return pure("gyre_sin_pi", x); }
Expr exp2_approx(const Expr &x) { return pure("gyre_exp2_approx", x); }

Expr log2_approx(const Expr &x) { return pure("gyre_log2_approx", x); }

Expr reciprocal_approx(const Expr &x) { return pure("gyre_reciprocal_approx", x); }

Expr opaque_quotient(const Expr &a, const Expr &b) {
    return Call::make(Int(32), "gyre_quotient", {a, b}, Call::PureExtern);
}
Expr opaque_remainder(const Expr &a, const Expr &b) {
    return Call::make(Int(32), "gyre_remainder", {a, b}, Call::PureExtern);
}

Expr choose(const Expr &condition, const Expr &yes, const Expr &no) {
    return Call::make(yes.type(), Call::if_then_else, {condition, yes, no}, Call::PureIntrinsic);
}

Expr opaque_select(const Expr &condition, const Expr &yes, const Expr &no) {
    return Call::make(yes.type(), "gyre_select", {condition, yes, no}, Call::PureExtern);
}

Expr any_not_finite(const Expr &first, const Expr &below, int rows, int columns, int warps) {
    return Call::make(Int(32), not_finite_tile, {first, below, rows, columns, warps}, Call::PureExtern);
}

Expr product_of_seen(const Expr &weight, const Expr &value, const Expr &seen) {
    return Call::make(Float(32), seen_product, {weight, value, seen}, Call::PureExtern);
}

Expr rescaled(const Expr &old, const Expr &factor) {
    return Call::make(old.type(), rescaled_value, {old, factor}, Call::PureExtern);
}

Expr placed(const Expr &value, const Expr &distance, const Expr &condition) {
    return Call::make(value.type(), placed_value, {value, distance, condition}, Call::PureExtern);
}

} // namespace gyre::cuda
