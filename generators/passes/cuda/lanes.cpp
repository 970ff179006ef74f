#include "lanes.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

class Lane : public IRMutator {
public:
    explicit Lane(int lane) : lane(lane) {}

    Expr mutate(const Expr &e) override { return lane_of(e, lane); }

protected:
    using IRMutator::mutate;
    using IRMutator::visit;

    Expr visit(const Ramp *op) override {
        const int inner = op->base.type().lanes();
        return simplify(lane_of(op->base, lane % inner) + lane_of(op->stride, lane % inner) * (lane / inner));
    }
    Expr visit(const Broadcast *op) override { return lane_of(op->value, lane % op->value.type().lanes()); }
    Expr visit(const Variable *op) override {
        return Load::make(op->type.element_of(), op->name, lane, Buffer<>(), Parameter(), const_true(),
                          ModulusRemainder());
    }
    Expr visit(const Cast *op) override { return Cast::make(op->type.element_of(), mutate(op->value)); }
    Expr visit(const Reinterpret *op) override {
        _halide_user_assert(op->value.type().lanes() == op->type.lanes())
            << "CUDA: reinterpretation as lanes of another size: " << Expr(op) << "\n";
        return Reinterpret::make(op->type.element_of(), mutate(op->value));
    }
    Expr visit(const Load *op) override {
        return Load::make(op->type.element_of(), op->name, mutate(op->index), op->image, op->param,
                          mutate(op->predicate), ModulusRemainder());
    }
    Expr visit(const Call *op) override {
        std::vector<Expr> args;
        for (const Expr &arg : op->args) args.push_back(mutate(arg));
        return Call::make(op->type.element_of(), op->name, args, op->call_type, op->func, op->value_index, op->image,
                          op->param);
    }
    Expr visit(const Shuffle *op) override {
        int index = op->indices[static_cast<size_t>(lane)];
        for (const Expr &vector : op->vectors) {
            if (index < vector.type().lanes()) return lane_of(vector, index);
            index -= vector.type().lanes();
        }
        return Expr();
    }
    Expr visit(const Let *op) override {
        if (!op->value.type().is_vector()) return Let::make(op->name, op->value, mutate(op->body));
        return lane_of(substitute(op->name, op->value, op->body), lane);
    }
    Expr visit(const VectorReduce *op) override {
        const int factor = op->value.type().lanes() / op->type.lanes();
        Expr all;
        for (int i = 0; i < factor; i++) {
            const Expr one = lane_of(op->value, lane * factor + i);
            all = !all.defined() ? one : combine(op->op, all, one);
        }
        return simplify(all);
    }

private:
    const int lane;

    static Expr combine(VectorReduce::Operator op, const Expr &a, const Expr &b) {
        switch (op) {
        case VectorReduce::Add:
            return a + b;
        case VectorReduce::Mul:
            return a * b;
        case VectorReduce::Min:
            return min(a, b);
        case VectorReduce::Max:
            return max(a, b);
        case VectorReduce::And:
            return a && b;
        case VectorReduce::Or:
            return a || b;
        default:
            _halide_user_assert(false)
                << "CUDA: a reduction of lanes that is none of sum, product, min, max, and, or\n";
            return a;
        }
    }
};

} // namespace

Expr lane_of(const Expr &vector, int lane) {
    // The result of a reduction may be a scalar, and hold vectors.
    const bool holds_lanes = vector.type().is_vector() || vector.as<VectorReduce>();
    return holds_lanes ? Lane(lane).IRMutator::mutate(vector) : vector;
}

Expr first_of_dense(const Expr &index) {
    const Ramp *ramp = index.as<Ramp>();
    return ramp && is_const_one(ramp->stride) && ramp->base.type().is_scalar() ? ramp->base : Expr();
}

} // namespace gyre::cuda
