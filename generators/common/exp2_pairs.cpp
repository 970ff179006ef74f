#include "exp2_pairs.h"

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

constexpr const char *name = "exp2_of_fixed_pair";

/// Every pair of 16-bit numbers u, exponents in 8.8 fixed point with bf16's bias, to bf16.
Expr exp2_of_fixed(const Expr &u) {
    const Type type = u.type();
    const auto constant = [&](int value) { return make_const(type, value); };
    const auto high_product = [&](const Expr &a, const Expr &b) { return mul_shift_right(a, b, constant(16)); };
    const Expr f = u << constant(8);
    // 2^f - 1 = f (c1 + f (c2 + f c3)), exact at 0 and 1, in units of 2^-16.
    const Expr slope = high_product(f, high_product(f, constant(5129)) + constant(14831)) + constant(45575);
    const Expr mantissa = (high_product(f, slope) + constant(0x100)) >> constant(9);
    return ((u >> constant(1)) & constant(0xff80)) | mantissa;
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

} // namespace

Expr exp2_pair(const Expr &first, const Expr &second) {
    // Adding 1.5 * 2^23 leaves an integer in the lowest bits.
    const auto fixed = [](const Expr &x) { return reinterpret<uint32_t>(x * 256.0f + (12582912.0f + 127 * 256)); };
    const Expr pair = (fixed(first) & Expr(0xffffu)) | (fixed(second) << 16);
    return Call::make(UInt(32), name, {pair}, Call::PureExtern);
}

void map_exp2_pairs(GeneratorBase &generator) { generator.get_pipeline().add_custom_lowering_pass(new SplitPairs); }

} // namespace gyre
