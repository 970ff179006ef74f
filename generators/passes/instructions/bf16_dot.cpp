#include "bf16_dot.h"

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

constexpr const char *dot_name = "bf16_dot";

class MapDots : public IRMutator {
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        if (op->name != dot_name) return IRMutator::visit(op);
        const int lanes = op->type.lanes();
        _halide_user_assert(lanes == bf16_dot_lanes)
            << "product of bf16 pairs has " << lanes << " lanes, expected " << bf16_dot_lanes << ":\n"
            << Expr(op) << "\n";
        const auto numbers = [&](const Expr &pairs) { return reinterpret(BFloat(16, 2 * lanes), mutate(pairs)); };
        // Halide's name for the instruction, which it finds by these types.
        return Call::make(op->type, "dot_product", {mutate(op->args[0]), numbers(op->args[1]), numbers(op->args[2])},
                          Call::PureExtern);
    }
};

} // namespace

bool has_bf16_dot(const Target &target) {
    return target.arch == Target::X86 && target.has_feature(Target::AVX512_Zen4);
}

Expr bf16_dot(const Expr &sum, const Expr &a, const Expr &b) {
    return Call::make(Float(32), dot_name, {sum, a, b}, Call::PureExtern);
}

void map_bf16_dots(GeneratorBase &generator) { generator.get_pipeline().add_custom_lowering_pass(new MapDots); }

} // namespace gyre
