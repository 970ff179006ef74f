/// A product that a staged loop begins a turn before it uses the sums, so that tensor cores multiply while warps are busy with what the
/// turn before found: warpgroups multiply by themselves until they are waited for.
///
/// Its sums of the next turn are in an array of their own, which the turn's end takes into the place of the turn's own.
#pragma once
#include <Halide.h>

#include <string>

namespace gyre::cuda {

/// By names of Funcs, which only a schedule knows. Empty: nothing is begun ahead.
struct ProductAhead {
    std::string product; // whose first update is the product
    std::string operand; // what it reads of shared memory, which has to be there a turn ahead, too
};

/// The body of a loop, apart from the definition and the product of a Func.
struct TakenProduct {
    Halide::Internal::Stmt product, nothing, rest; // undefined product: there is none; `nothing`: the definition alone
    std::string sums;                              // the array
};
TakenProduct take_product(const Halide::Internal::Stmt &body, const std::string &func);

/// The array that the sums of the next turn are in.
std::string sums_ahead(const std::string &sums);
bool is_ahead(const std::string &array);

/// The kernel with room for these sums, beside those of `product`.
Halide::Internal::Stmt with_sums_ahead(const Halide::Internal::Stmt &kernel, const std::string &product);

/// What was taken, as of turn `turn`, with its sums in `sums`.
Halide::Internal::Stmt of_turn_into(const TakenProduct &taken, const Halide::Internal::Stmt &s, const std::string &loop,
                                    const Halide::Expr &turn, const std::string &sums);

/// The statement that waits for the sums ahead and takes them: {the array}.
constexpr char take_sums_call[] = "gyre_take_sums";

} // namespace gyre::cuda
