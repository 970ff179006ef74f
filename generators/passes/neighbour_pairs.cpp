#include "neighbour_pairs.h"

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

constexpr const char *call_of_neighbours = "neighbour_pair";

/// What `x` is the bits of.
Expr of_bits(const Expr &x) {
    const auto *same_bits = x.as<Reinterpret>();
    return same_bits ? same_bits->value : x;
}

/// `lanes` lanes of a vector from `begin` on, if they are there.
Expr lanes_of(const Expr &vector, int begin, int lanes) {
    if (begin < 0 || begin + lanes > vector.type().lanes()) return {};
    return lanes == vector.type().lanes() ? vector : Shuffle::make_slice(vector, begin, 1, lanes);
}

/// The vector whose even elements are `even` and whose odd ones are `odd`, both loads of every second element; undefined: they are
/// something else.
Expr joined_loads(const Load *even, const Load *odd) {
    const auto every_second = [](const Load *load) {
        const auto *places = load->index.as<Ramp>();
        return places && is_const(places->stride, 2) && is_const_one(load->predicate) ? places->base : Expr();
    };
    const Expr first = every_second(even), second = every_second(odd);
    if (even->name != odd->name || !first.defined() || !second.defined()) return {};
    if (!is_const_one(simplify(second - first))) return {};
    const int lanes = 2 * even->type.lanes();
    return Load::make(even->type.with_lanes(lanes), even->name, Ramp::make(first, 1, lanes), even->image, even->param,
                      const_true(lanes), ModulusRemainder());
}

/// The vector that two slices take every second element of. Halide makes such slices where it has loaded both together.
Expr joined_slices(const Shuffle *even, const Shuffle *odd) {
    const auto every_second = [](const Shuffle *of) {
        return of->is_slice() && of->slice_stride() == 2 && of->vectors.size() == 1;
    };
    if (!every_second(even) || !every_second(odd) || odd->slice_begin() != even->slice_begin() + 1) return {};
    if (!equal(even->vectors[0], odd->vectors[0])) return {};
    return lanes_of(even->vectors[0], even->slice_begin(), 2 * even->type.lanes());
}

Expr joined(const Expr &even, const Expr &odd) {
    const auto *load = even.as<Load>(), *other_load = odd.as<Load>();
    if (load && other_load) return joined_loads(load, other_load);
    const auto *slice = even.as<Shuffle>(), *other_slice = odd.as<Shuffle>();
    return slice && other_slice ? joined_slices(slice, other_slice) : Expr();
}

class LoadPairs : public IRMutator {
    using IRMutator::visit;
    Expr visit(const Call *op) override {
        if (op->name != call_of_neighbours) return IRMutator::visit(op);
        const Expr first = mutate(op->args[0]), second = mutate(op->args[1]);
        const Expr dense = joined(of_bits(first), of_bits(second));
        if (dense.defined()) return reinterpret(op->type, dense);
        return cast(op->type, first) | (cast(op->type, second) << make_const(op->type, 16));
    }
};

} // namespace

Expr neighbour_pair(const Expr &first, const Expr &second) {
    return Call::make(UInt(32), call_of_neighbours, {first, second}, Call::PureExtern);
}

void map_neighbour_pairs(GeneratorBase &generator) { generator.get_pipeline().add_custom_lowering_pass(new LoadPairs); }

} // namespace gyre
