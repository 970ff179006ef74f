#include "masked_tails.h"

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// A condition that holds for lanes of base + lane < end, as it is written or as Halide narrows it; undefined: another one.
struct Tail {
    Expr base, end;

    explicit Tail(const Expr &condition) {
        const auto *less = condition.as<LT>();
        const auto *same = less ? less->b.as<Broadcast>() : nullptr;
        if (!same) return;
        const auto *narrow = less->a.as<Cast>();
        const auto *lanes = (narrow ? narrow->value : less->a).as<Ramp>();
        if (!lanes || !is_const_one(lanes->stride)) return;
        if (!narrow) {
            base = lanes->base;
            end = same->value;
            return;
        }
        // narrow(lane) < saturating_cast(saturating_sub(end, base))
        const auto *cast = Call::as_intrinsic(same->value, {Call::saturating_cast});
        const auto *left = cast ? Call::as_intrinsic(cast->args[0], {Call::saturating_sub}) : nullptr;
        if (!left || !is_const_zero(lanes->base)) return;
        base = left->args[1];
        end = left->args[0];
    }
};

/// Takes loads of places that are bounded by the end of a row by `mask`.
class MaskLoads : public IRMutator {
public:
    MaskLoads(Tail tail, Expr mask, int bits) : tail(std::move(tail)), mask(std::move(mask)), bits(bits) {}

private:
    const Tail tail;
    const Expr mask;
    const int bits;       // of an element, at least
    bool bounded = false; // some place of the index was

    /// True if the lanes are the condition's, and the bound changes none for which it holds.
    bool is_bound(const Min *op) const {
        const auto *lanes = op->a.as<Ramp>();
        const auto *last = op->b.as<Broadcast>();
        return lanes && last && is_const_one(lanes->stride) && can_prove(lanes->base == tail.base) &&
               can_prove(last->value + 1 == tail.end);
    }

    using IRMutator::visit;
    Expr visit(const Min *op) override {
        if (!is_bound(op)) return IRMutator::visit(op);
        bounded = true;
        return op->a;
    }
    Expr visit(const Load *op) override {
        if (op->type.lanes() != mask.type().lanes() || op->type.bits() < bits || !is_const_one(op->predicate))
            return op;
        bounded = false;
        const Expr index = simplify(mutate(op->index));
        const auto *dense = index.as<Ramp>();
        if (!bounded || !dense || !is_const_one(dense->stride)) return op;
        return Load::make(op->type, op->name, index, op->image, op->param, mask, ModulusRemainder());
    }
};

class MaskTails : public IRMutator {
public:
    explicit MaskTails(int bits) : bits(bits) {}

private:
    const int bits;

    using IRMutator::visit;
    Expr visit(const Select *op) override {
        const Tail tail(op->condition);
        if (!tail.base.defined()) return IRMutator::visit(op);
        const Expr inside = MaskLoads(tail, op->condition, bits).mutate(op->true_value);
        return Select::make(op->condition, inside, mutate(op->false_value));
    }
};

/// Takes the bound from the places of a load.
class WithoutBound : public IRMutator {
public:
    Expr within; // the bound's condition; undefined: there is none

private:
    using IRMutator::visit;
    Expr visit(const Min *op) override {
        const auto *lanes = op->a.as<Ramp>();
        if (!lanes || !is_const_one(lanes->stride) || !op->b.as<Broadcast>()) return IRMutator::visit(op);
        within = op->a <= op->b;
        return op->a;
    }
};

/// Takes loads of places that are bounded by a last one by masks of their own.
class MaskBounded : public IRMutator {
public:
    explicit MaskBounded(int bits) : bits(bits) {}

private:
    const int bits; // of an element, at least

    using IRMutator::visit;
    Expr visit(const Load *op) override {
        if (op->type.bits() < bits || !is_const_one(op->predicate)) return IRMutator::visit(op);
        WithoutBound places;
        const Expr index = simplify(places.mutate(op->index));
        const auto *dense = index.as<Ramp>();
        if (!places.within.defined() || !dense || !is_const_one(dense->stride)) return IRMutator::visit(op);
        return Load::make(op->type, op->name, index, op->image, op->param, places.within, ModulusRemainder());
    }
};

class TailsPass : public IRMutator {
public:
    explicit TailsPass(int bits) : bits(bits) {}
    Stmt mutate(const Stmt &s) override { return mask_tails(s, bits); }

private:
    const int bits;
    using IRMutator::mutate;
};

class BoundedPass : public IRMutator {
public:
    BoundedPass(const std::string &func, int bits) : func(func), bits(bits) {}

private:
    const std::string func;
    const int bits;

    using IRMutator::visit;
    Stmt visit(const ProducerConsumer *op) override {
        if (!op->is_producer || op->name != func) return IRMutator::visit(op);
        return ProducerConsumer::make(op->name, true, mask_bounded(op->body, bits));
    }
};

} // namespace

int least_masked_bits(const Target &target) {
    if (target.has_feature(Target::AVX512_Skylake)) return 8;
    return target.has_feature(Target::AVX2) ? 32 : 0;
}

Stmt mask_tails(const Stmt &body, int bits) { return MaskTails(bits).mutate(body); }

void mask_tails(GeneratorBase &generator, int bits) {
    generator.get_pipeline().add_custom_lowering_pass(new TailsPass(bits));
}

Stmt mask_bounded(const Stmt &production, int bits) { return MaskBounded(bits).mutate(production); }

void mask_bounded(GeneratorBase &generator, const Func &of, int bits) {
    generator.get_pipeline().add_custom_lowering_pass(new BoundedPass(of.name(), bits));
}

} // namespace gyre
