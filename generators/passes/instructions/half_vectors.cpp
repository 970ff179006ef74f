#include "half_vectors.h"

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

// How f16 differs from f32: its exponent's bias is smaller by 112, and its smallest normal number is 2^-14.
constexpr uint32_t bias = 112u << 23, smallest_normal = 0x38800000u;
constexpr uint32_t infinity_f32 = 0x7f800000u, infinity_f16 = 0x7c00u, nan_f16 = 0x7e00u;
constexpr int shift = 13; // mantissa bits that f32 has more

class MapHalves : public IRMutator {
public:
    explicit MapHalves(bool scalars) : scalars(scalars) {}

private:
    const bool scalars; // as well

    using IRMutator::visit;

    // Whatever is a vector of f16 becomes one of integers, reinterpreted.
    bool is_half_vector(const Type &type) const {
        return (scalars || type.is_vector()) && type.element_of() == Float(16);
    }
    static Expr bits_of(const Expr &half) {
        const Reinterpret *r = half.as<Reinterpret>();
        const Type bits = UInt(16, half.type().lanes());
        return r && r->value.type() == bits ? r->value : reinterpret(bits, half);
    }

    Expr visit(const Load *op) override {
        if (!is_half_vector(op->type)) return IRMutator::visit(op);
        return reinterpret(op->type, Load::make(UInt(16, op->type.lanes()), op->name, mutate(op->index), op->image,
                                                op->param, mutate(op->predicate), op->alignment));
    }
    Stmt visit(const Store *op) override {
        if (!is_half_vector(op->value.type())) return IRMutator::visit(op);
        return Store::make(op->name, bits_of(mutate(op->value)), mutate(op->index), op->param, mutate(op->predicate),
                           op->alignment);
    }
    Expr visit(const Variable *op) override {
        if (!is_half_vector(op->type)) return op;
        return reinterpret(op->type, Variable::make(UInt(16, op->type.lanes()), op->name));
    }
    Expr visit(const Let *op) override {
        Expr value = mutate(op->value), body = mutate(op->body);
        if (is_half_vector(value.type())) value = bits_of(value);
        if (!is_half_vector(body.type())) return Let::make(op->name, value, body);
        return reinterpret(body.type(), Let::make(op->name, value, bits_of(body)));
    }
    Stmt visit(const LetStmt *op) override {
        const Expr value = mutate(op->value);
        return LetStmt::make(op->name, is_half_vector(value.type()) ? bits_of(value) : value, mutate(op->body));
    }
    Expr visit(const Select *op) override {
        if (!is_half_vector(op->type)) return IRMutator::visit(op);
        return reinterpret(op->type, Select::make(mutate(op->condition), bits_of(mutate(op->true_value)),
                                                  bits_of(mutate(op->false_value))));
    }
    Expr visit(const Shuffle *op) override {
        if (!is_half_vector(op->type)) return IRMutator::visit(op);
        std::vector<Expr> vectors;
        for (const Expr &vector : op->vectors) vectors.push_back(bits_of(mutate(vector)));
        return reinterpret(op->type, Shuffle::make(vectors, op->indices));
    }
    Expr visit(const Cast *op) override {
        const Type &from = op->value.type(), &to = op->type;
        if (is_half_vector(from) && to.element_of() == Float(32)) return widened(bits_of(mutate(op->value)));
        if (is_half_vector(to) && from.element_of() == Float(32)) return narrowed(mutate(op->value), to);
        return IRMutator::visit(op);
    }

    /// A subnormal number m 2^-24 is (2^-14 + m 2^-24) - 2^-14, where the sum is a matter of bits.
    static Expr widened(const Expr &half) {
        const int lanes = half.type().lanes();
        const Type words = UInt(32, lanes), floats = Float(32, lanes);
        const auto constant = [&](uint32_t value) { return make_const(words, value); };
        const std::string once = unique_name("half"), of_magnitude = unique_name("magnitude");
        const Expr word = Variable::make(words, once), magnitude = Variable::make(words, of_magnitude);
        const Expr shifted = magnitude << shift, normal = shifted + constant(bias);
        const Expr subnormal = reinterpret(words, reinterpret(floats, shifted + constant(smallest_normal)) -
                                                      reinterpret(floats, constant(smallest_normal)));
        const Expr finite = select(magnitude < constant(1u << (23 - shift)), subnormal, normal);
        const Expr value = select(magnitude < constant(infinity_f16), finite, normal + constant(bias));
        const Expr result = reinterpret(floats, value | ((word ^ magnitude) << 16));
        return Let::make(once, cast(words, half), Let::make(of_magnitude, word & constant(0x7fffu), result));
    }

    /// Adding half of the discarded range rounds; the kept part's lowest bit breaks ties towards even. A sum with 1/2, whose
    /// last bit is worth 2^-24, rounds as a subnormal number is rounded.
    static Expr narrowed(const Expr &value, const Type &type) {
        const int lanes = value.type().lanes();
        const Type words = UInt(32, lanes), floats = Float(32, lanes);
        const auto constant = [&](uint32_t v) { return make_const(words, v); };
        const std::string once = unique_name("bits"), of_magnitude = unique_name("magnitude");
        const Expr bits = Variable::make(words, once), magnitude = Variable::make(words, of_magnitude);
        const Expr half_range = constant((1u << (shift - 1)) - 1);
        const Expr normal = (magnitude - constant(bias) + half_range + ((magnitude >> shift) & constant(1u))) >> shift;
        const Expr one_half = reinterpret(words, make_const(floats, 0.5f));
        const Expr subnormal = reinterpret(words, reinterpret(floats, magnitude) + make_const(floats, 0.5f)) - one_half;
        const Expr finite =
            select(magnitude < constant(smallest_normal), subnormal, min(normal, constant(infinity_f16)));
        const Expr rounded = select(magnitude > constant(infinity_f32), constant(nan_f16), finite);
        const Expr result = cast(UInt(16, lanes), rounded | ((bits >> 16) & constant(0x8000u)));
        return reinterpret(type, Let::make(once, reinterpret(words, value),
                                           Let::make(of_magnitude, bits & constant(0x7fffffffu), result)));
    }
};

} // namespace

void map_half_vectors(GeneratorBase &generator) {
    const Target &target = generator.context().target();
    const bool arm = target.arch == Target::ARM && target.bits == 32 && !target.has_feature(Target::NoNEON) &&
                     !target.has_feature(Target::ARMFp16);
    const bool x86 = target.arch == Target::X86 && !target.has_feature(Target::F16C);
    if (arm || x86) generator.get_pipeline().add_custom_lowering_pass(new MapHalves(x86));
}

} // namespace gyre
