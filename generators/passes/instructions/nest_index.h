/// Where the accesses of a loop nest are, and how they move with its loops: what each reader of nests asks.
#pragma once
#include <Halide.h>

#include <optional>
#include <string>
#include <vector>

namespace gyre {

/// Returns by how much an index grows with a loop's variable. It may depend on variables where the index is not linear.
inline Halide::Expr any_step_of(const Halide::Expr &index, const std::string &variable) {
    using namespace Halide;
    const Expr next = Internal::substitute(variable, Internal::Variable::make(Int(32), variable) + 1, index);
    return Internal::simplify(next - index);
}

/// any_step_of() as a number; undefined if it is not the same everywhere. A loop that does not exist has no name, and no step.
inline std::optional<int64_t> step_of(const Halide::Expr &index, const std::string &variable) {
    if (variable.empty() || !Halide::Internal::expr_uses_var(index, variable)) return 0;
    return Halide::Internal::as_const_int(any_step_of(index, variable));
}

/// The index where all of these are 0.
inline Halide::Expr at_origin(Halide::Expr index, const std::vector<std::string> &variables) {
    for (const std::string &v : variables)
        if (!v.empty()) index = Halide::Internal::substitute(v, 0, index);
    return Halide::Internal::simplify(index);
}

/// True if `e` is what an array holds at this place.
inline bool reads(const Halide::Expr &e, const std::string &array, const Halide::Expr &index) {
    const auto *load = e.as<Halide::Internal::Load>();
    return load && load->name == array &&
           Halide::Internal::is_const_zero(Halide::Internal::simplify(load->index - index));
}

/// What `value` adds to that which an array holds at this place; undefined if it is no such sum.
inline Halide::Expr added_to(const std::string &array, const Halide::Expr &index, const Halide::Expr &value) {
    const auto *sum = value.as<Halide::Internal::Add>();
    if (sum && reads(sum->a, array, index)) return sum->b;
    return sum && reads(sum->b, array, index) ? sum->a : Halide::Expr();
}

} // namespace gyre
