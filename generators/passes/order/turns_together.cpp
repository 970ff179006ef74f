#include "turns_together.h"

#include <set>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// Gives what a turn allocates, and the loops around it, names of its own.
class RenameAllocations : public IRMutator {
public:
    explicit RenameAllocations(const std::string &suffix) : suffix(suffix) {}

private:
    const std::string suffix;
    std::set<std::string> renamed;

    std::string name_of(const std::string &name) const { return renamed.count(name) ? name + suffix : name; }

    using IRMutator::visit;
    Stmt visit(const Allocate *op) override {
        renamed.insert(op->name);
        std::vector<Expr> extents;
        for (const Expr &extent : op->extents) extents.push_back(mutate(extent));
        return Allocate::make(name_of(op->name), op->type, op->memory_type, extents, mutate(op->condition),
                              mutate(op->body), op->new_expr, op->free_function, op->padding);
    }
    Stmt visit(const ProducerConsumer *op) override {
        return ProducerConsumer::make(name_of(op->name), op->is_producer, mutate(op->body));
    }
    Stmt visit(const Free *op) override { return Free::make(name_of(op->name)); }
    Stmt visit(const Store *op) override {
        return Store::make(name_of(op->name), mutate(op->value), mutate(op->index), op->param, mutate(op->predicate),
                           op->alignment);
    }
    Expr visit(const Load *op) override {
        return Load::make(op->type, name_of(op->name), mutate(op->index), op->image, op->param, mutate(op->predicate),
                          op->alignment);
    }
};

/// What two turns do, side by side where both have the same form, else one after the other.
Stmt side_by_side(const Stmt &a, const Stmt &b, const std::string &suffix) {
    if (const auto *x = a.as<LetStmt>()) {
        const auto *y = b.as<LetStmt>();
        if (!y || x->name != y->name) return Block::make(a, b);
        if (equal(x->value, y->value)) return LetStmt::make(x->name, x->value, side_by_side(x->body, y->body, suffix));
        const std::string other = y->name + suffix;
        const Stmt body = substitute(y->name, Variable::make(y->value.type(), other), y->body);
        return LetStmt::make(x->name, x->value, LetStmt::make(other, y->value, side_by_side(x->body, body, suffix)));
    }
    if (const auto *x = a.as<Allocate>()) {
        const auto *y = b.as<Allocate>();
        if (!y) return Block::make(a, b);
        const Stmt inner = Allocate::make(y->name, y->type, y->memory_type, y->extents, y->condition,
                                          side_by_side(x->body, y->body, suffix), y->new_expr, y->free_function);
        return Allocate::make(x->name, x->type, x->memory_type, x->extents, x->condition, inner, x->new_expr,
                              x->free_function);
    }
    if (const auto *x = a.as<ProducerConsumer>()) {
        const auto *y = b.as<ProducerConsumer>();
        if (!y || x->is_producer != y->is_producer) return Block::make(a, b);
        return ProducerConsumer::make(x->name, x->is_producer, side_by_side(x->body, y->body, suffix));
    }
    if (const auto *x = a.as<Block>()) {
        const auto *y = b.as<Block>();
        if (!y) return Block::make(a, b);
        return Block::make(side_by_side(x->first, y->first, suffix), side_by_side(x->rest, y->rest, suffix));
    }
    if (const auto *x = a.as<For>()) {
        const auto *y = b.as<For>();
        if (!y || x->name != y->name || !equal(x->min, y->min) || !equal(x->extent, y->extent))
            return Block::make(a, b);
        return For::make(x->name, x->min, x->extent, x->for_type, x->partition_policy, x->device_api,
                         side_by_side(x->body, y->body, suffix));
    }
    return Block::make(a, b);
}

} // namespace

Stmt take_turns_together(const For *loop, int count) {
    const Expr turn = Variable::make(Int(32), loop->name);
    const auto body_of = [&](const Expr &value) { return substitute(loop->name, value, loop->body); };
    Stmt together = body_of(loop->min + turn * count);
    for (int other = 1; other < count; other++) {
        const std::string suffix = ".turn" + std::to_string(other);
        const Stmt body = RenameAllocations(suffix).mutate(body_of(loop->min + turn * count + other));
        together = side_by_side(together, body, suffix);
    }
    const auto loop_over = [&](const Expr &min, const Expr &extent, const Stmt &body) {
        return For::make(loop->name, min, extent, loop->for_type, loop->partition_policy, loop->device_api, body);
    };
    const Expr extent = max(loop->extent, 0), whole = extent / count;
    return Block::make(loop_over(0, whole, together), loop_over(loop->min + whole * count, extent % count, loop->body));
}

} // namespace gyre
