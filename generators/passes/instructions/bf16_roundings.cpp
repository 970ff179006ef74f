#include "bf16_roundings.h"

#include "../../math/bf16_rounding.h"
#include "../../math/storage.h"
#include "bf16_matrices.h"

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

// Halide looks for a function of this name with x<lanes> behind it in the LLVM modules that it brings along, and finds
// vcvtne2ps2bf16x32 in that for AVX-512; for fewer lanes than half of them it would not look so far.
constexpr const char *of_vectors = "vcvtne2ps2bf16";
constexpr int instruction_lanes = 32, fewest_lanes = instruction_lanes / 2;

/// Both halves of the instruction's result are of the same vector. If it were filled up with nothing, the compiler would take whatever a register
/// holds, and wait for the instruction before that wrote it.
Expr round_half_vector(const Type &type, const Expr &value) {
    const std::string once = unique_name("value");
    const Expr half = Variable::make(value.type(), once);
    const Expr rounded = Call::make(type.with_lanes(instruction_lanes), of_vectors,
                                    {Shuffle::make_concat({half, half})}, Call::PureExtern);
    return Let::make(once, value, Shuffle::make_slice(rounded, 0, 1, fewest_lanes));
}

class MapRoundings : public IRMutator {
public:
    explicit MapRoundings(bool arm) : arm(arm) {}

private:
    const bool arm;

    using IRMutator::visit;
    Expr visit(const Call *op) override {
        if (op->name != bf16_rounding_call) return IRMutator::visit(op);
        const Expr value = mutate(op->args[0]);
        const int lanes = value.type().lanes();
        // Stands for the instruction to bf16 with the same operands: cmake/bf16_instructions.cmake.
        if (arm) return reinterpret(op->type, cast(Float(16, lanes), value));
        if (lanes == fewest_lanes) return round_half_vector(op->type, value);
        if (lanes > fewest_lanes) return Call::make(op->type, of_vectors, {value}, Call::PureExtern);
        const std::string once = unique_name("value");
        return Let::make(once, value, reinterpret(op->type, narrow(Variable::make(value.type(), once), BFloat(16))));
    }
};

} // namespace

bool has_bf16_rounding(const Target &target) {
    return target.has_feature(Target::AVX512_Zen4) || has_bf16_matrices(target);
}

void map_bf16_roundings(GeneratorBase &generator) {
    generator.get_pipeline().add_custom_lowering_pass(
        new MapRoundings(has_bf16_matrices(generator.context().target())));
}

} // namespace gyre
