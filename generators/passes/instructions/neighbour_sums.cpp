#include "neighbour_sums.h"

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

const Load *dense_load(const Expr &e) {
    const auto *load = e.as<Load>();
    const auto *places = load ? load->index.as<Ramp>() : nullptr;
    return places && is_const_one(places->stride) && is_const_one(load->predicate) ? load : nullptr;
}

Expr first_place(const Load *load) { return load->index.as<Ramp>()->base; }

class TakeFromOneLoad : public IRMutator {
    using IRMutator::visit;
    Expr visit(const Shuffle *op) override {
        const bool every_second = op->is_slice() && op->slice_stride() == 2 && op->vectors.size() == 1;
        const auto *sum = every_second ? op->vectors[0].as<Add>() : nullptr;
        const Load *first = sum ? dense_load(sum->a) : nullptr, *second = sum ? dense_load(sum->b) : nullptr;
        if (!first || !second || first->name != second->name) return IRMutator::visit(op);
        if (!is_const_one(simplify(first_place(second) - first_place(first)))) return IRMutator::visit(op);
        const int begin = op->slice_begin(), lanes = op->type.lanes();
        if (begin + 2 * lanes > first->type.lanes()) return IRMutator::visit(op);
        return Shuffle::make_slice(sum->a, begin, 2, lanes) + Shuffle::make_slice(sum->a, begin + 1, 2, lanes);
    }
};

} // namespace

void take_neighbours_from_one_load(GeneratorBase &generator) {
    generator.get_pipeline().add_custom_lowering_pass(new TakeFromOneLoad);
}

} // namespace gyre
