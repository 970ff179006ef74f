#include "step_stages.h"

#include <string>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

class WithoutFree : public IRMutator {
public:
    explicit WithoutFree(const std::string &name) : name(name) {}

private:
    const std::string name;

    using IRMutator::visit;
    Stmt visit(const Free *op) override { return op->name == name ? Evaluate::make(0) : Stmt(op); }
};

bool is_production(const Stmt &s, const std::string &name) {
    const auto *op = s.as<ProducerConsumer>();
    return op && op->is_producer && op->name == name;
}

/// The body of a let or an allocation; undefined for any other statement.
Stmt body_of(const Stmt &s) {
    if (const auto *let = s.as<LetStmt>()) return let->body;
    if (const auto *allocation = s.as<Allocate>()) return allocation->body;
    return {};
}

} // namespace

StepStages stages_of(const Stmt &s) {
    if (const auto *let = s.as<LetStmt>()) {
        StepStages inner = stages_of(let->body);
        for (Stmt &stage : inner.each) stage = LetStmt::make(let->name, let->value, stage);
        return inner;
    }
    if (const auto *block = s.as<Block>()) {
        StepStages first = stages_of(block->first);
        if (first.each.size() == 1) return {{s}, {}};
        first.each.back() = Block::make(first.each.back(), block->rest);
        return first;
    }
    const auto *allocation = s.as<Allocate>();
    if (!allocation) return {{s}, {}};
    // What only the first stage needs may be allocated before it, around it alone or around all.
    std::vector<Stmt> between;
    Stmt body = allocation->body;
    for (;;) {
        const auto *block = body.as<Block>();
        const Stmt first = block ? block->first : body, within = body_of(first);
        if (!within.defined()) break;
        between.push_back(first);
        body = block ? Block::make(within, block->rest) : within;
    }
    const auto *block = body.as<Block>();
    if (!block || !is_production(block->first, allocation->name)) return {{s}, {}};
    Stmt production = block->first.as<ProducerConsumer>()->body;
    Stmt rest = WithoutFree(allocation->name).mutate(block->rest);
    for (auto outer = between.rbegin(); outer != between.rend(); ++outer) {
        if (const auto *let = outer->as<LetStmt>()) {
            production = LetStmt::make(let->name, let->value, production);
            rest = LetStmt::make(let->name, let->value, rest);
        } else {
            const auto *a = outer->as<Allocate>();
            production = Allocate::make(a->name, a->type, a->memory_type, a->extents, a->condition,
                                        Block::make(production, Free::make(a->name)));
            rest = WithoutFree(a->name).mutate(rest);
        }
    }
    StepStages inner = stages_of(production);
    inner.rings.push_back({s, allocation->constant_allocation_size()});
    inner.each.push_back(rest);
    return inner;
}

} // namespace gyre
