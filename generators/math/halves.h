/// Many values joined into one.
#pragma once
#include <Halide.h>

#include <functional>
#include <vector>

namespace gyre {

using Join = std::function<Halide::Expr(const Halide::Expr &, const Halide::Expr &)>;

/// All values, halves with halves, as vectors do.
inline Halide::Expr joined_in_halves(std::vector<Halide::Expr> values, const Join &join) {
    while (values.size() > 1) {
        const size_t half = (values.size() + 1) / 2;
        for (size_t i = 0; i + half < values.size(); i++) values[i] = join(values[i], values[i + half]);
        values.resize(half);
    }
    return values[0];
}

inline Halide::Expr sum_in_halves(const std::vector<Halide::Expr> &values) {
    return joined_in_halves(values, [](const Halide::Expr &a, const Halide::Expr &b) { return a + b; });
}

} // namespace gyre
