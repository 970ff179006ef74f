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

/// Every second element from `first` on, or from min(first, last) + begin on, none past last + begin.
struct EverySecond {
    Expr first, last, begin; // `last` undefined: without a bound; `first` undefined: other places

    explicit EverySecond(const Load *load) {
        if (!is_const_one(load->predicate)) return;
        const auto *sum = load->index.as<Add>();
        const auto *bounded = (sum ? sum->a : load->index).as<Min>();
        const auto *same_last = bounded ? bounded->b.as<Broadcast>() : nullptr;
        const auto *same_begin = sum ? sum->b.as<Broadcast>() : nullptr;
        if (sum && !(same_last && same_begin)) return;
        const auto *places = (bounded ? bounded->a : load->index).as<Ramp>();
        if (!places || !is_const(places->stride, 2) || (bounded && !same_last)) return;
        first = places->base;
        if (same_last) last = same_last->value;
        begin = same_begin ? same_begin->value : Expr(0);
    }
    /// The places of these and of those after each of them, if `next` is those.
    Expr joined(const EverySecond &next, int lanes) const {
        if (!first.defined() || !next.first.defined() || !is_const_one(simplify(next.first - first))) return {};
        if (last.defined() != next.last.defined()) return {};
        const Expr all = Ramp::make(first, 1, lanes);
        if (!last.defined()) return all;
        if (!equal(last, next.last) || !equal(begin, next.begin)) return {};
        return min(all, Broadcast::make(last, lanes)) + Broadcast::make(begin, lanes);
    }
};

/// The vector whose even elements are `even` and whose odd ones are `odd`, both loads of every second element; undefined: they are
/// something else.
Expr joined_loads(const Load *even, const Load *odd) {
    const int lanes = 2 * even->type.lanes();
    const Expr places = even->name == odd->name ? EverySecond(even).joined(EverySecond(odd), lanes) : Expr();
    if (!places.defined()) return {};
    return Load::make(even->type.with_lanes(lanes), even->name, places, even->image, even->param, const_true(lanes),
                      ModulusRemainder());
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
