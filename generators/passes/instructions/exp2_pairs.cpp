#include "exp2_pairs.h"

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

constexpr const char *name = "exp2_of_fixed_pair";

/// The exponents of both numbers have these fraction bits, and are stored with this bias.
constexpr int fraction_bits = 9, fixed_bias = 63;
static_assert(exp2_pair_unit == 1 << fraction_bits);

/// Every 16-bit number u, an exponent in 7.9 fixed point plus `fixed_bias`, to the bf16 number 2^(u - fixed_bias).
Expr exp2_of_fixed(const Expr &u) {
    const Type type = u.type();
    const auto constant = [&](int value) { return make_const(type, value); };
    const auto high_product = [&](const Expr &a, const Expr &b) { return mul_shift_right(a, b, constant(16)); };
    // f and 1 - f in units of 2^-16, and 1 + f - 2^f = f (1 - f) (c0 + c1 f), exact at 0 and 1, in units of 2^-9: the number in
    // 7.9 fixed point is u less that. The coefficients were searched for, with the roundings as they are, so that the relative
    // error's deviation is that of rounding 2^f to bf16.
    const Expr f = u << constant(16 - fraction_bits);
    const Expr bend = high_product(high_product(f, ~f), high_product(f, constant(39)) + constant(156));
    // Half the sum with 2^15, and half of that again: two fraction bits are rounded off, and 2^13 is 64 as an exponent.
    const Expr half = rounding_halving_add(u - bend, constant(0x8000));
    return half >> constant(1);
}

class SplitPairs : public IRMutator {
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        if (op->name != name) return IRMutator::visit(op);
        const Expr pairs = mutate(op->args[0]);
        const Type halves = UInt(16, 2 * pairs.type().lanes());
        const std::string fixed = unique_name("fixed");
        return Let::make(fixed, reinterpret(halves, pairs),
                         reinterpret(op->type, exp2_of_fixed(Variable::make(halves, fixed))));
    }
};

// Adding 1.5 * 2^23 leaves an integer in the lowest bits, and in the highest ones those of 1.5 * 2^23, which the second number, 16 bits
// further up, makes up for.
constexpr uint32_t magic_bits = 0x4b400000;
constexpr int half_range = 1 << 16;
constexpr float magic[2] = {12582912.0f, 12582912.0f + (half_range - (magic_bits >> 16))};

} // namespace

float exp2_pair_offset(int which) { return magic[which] + (fixed_bias - exp2_pair_shift) * exp2_pair_unit; }

Expr exp2_pair_at_least(const Expr &number, int which) { return max(number, magic[which]); }

Expr exp2_pair_of_units(const Expr &first, const Expr &second) {
    // A sum of both is a shift and an addition; a choice of halves becomes a permutation, which takes three operations.
    const Expr pair = reinterpret<uint32_t>(first) + (reinterpret<uint32_t>(second) << 16);
    return Call::make(UInt(32), name, {pair}, Call::PureExtern);
}

Expr exp2_pair(const Expr &first, const Expr &second) {
    const auto in_units = [](const Expr &x, int which) { return x * exp2_pair_unit + exp2_pair_offset(which); };
    return exp2_pair_of_units(in_units(first, 0), in_units(second, 1));
}

void map_exp2_pairs(GeneratorBase &generator) { generator.get_pipeline().add_custom_lowering_pass(new SplitPairs); }

} // namespace gyre
