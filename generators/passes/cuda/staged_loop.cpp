#include "staged_loop.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

class FindAccesses : public IRVisitor {
public:
    explicit FindAccesses(const std::set<std::string> &arrays) : arrays(arrays) {}
    bool stores = false, loads = false, stores_elsewhere = false;

private:
    const std::set<std::string> &arrays;
    using IRVisitor::visit;
    void visit(const Store *op) override {
        (arrays.count(op->name) ? stores : stores_elsewhere) = true;
        IRVisitor::visit(op);
    }
    void visit(const Load *op) override {
        loads = loads || arrays.count(op->name);
        IRVisitor::visit(op);
    }
};

FindAccesses accesses_of(const Stmt &s, const std::set<std::string> &arrays) {
    FindAccesses find(arrays);
    s.accept(&find);
    return find;
}

/// variable % slots in the index of a store.
class FindSlots : public IRVisitor {
public:
    explicit FindSlots(const std::string &variable) : variable(variable) {}
    int slots = 0;

private:
    const std::string &variable;
    bool in_index = false;
    using IRVisitor::visit;
    void visit(const Store *op) override {
        in_index = true;
        op->index.accept(this);
        in_index = false;
    }
    void visit(const Mod *op) override {
        const Variable *v = op->a.as<Variable>();
        const auto count = as_const_int(op->b);
        if (in_index && v && v->name == variable && count) slots = static_cast<int>(*count);
        IRVisitor::visit(op);
    }
};

class TakeStaging : public IRMutator {
public:
    TakeStaging(const std::string &variable, const std::set<std::string> &shared)
        : variable(variable), shared(shared) {}
    StagedLoop taken;

private:
    const std::string &variable;
    const std::set<std::string> &shared;
    using IRMutator::visit;

    Stmt visit(const ProducerConsumer *op) override {
        if (!op->is_producer) return IRMutator::visit(op);
        const FindAccesses found = accesses_of(op->body, shared);
        FindSlots ring(variable);
        op->body.accept(&ring);
        if (!found.stores || found.loads || found.stores_elsewhere || ring.slots < 2) return IRMutator::visit(op);
        taken.slots = ring.slots;
        taken.staging.push_back({op->name, op->body});
        return Evaluate::make(0);
    }
    Stmt visit(const For *op) override { return op; } // what other loops hold is not of one turn
};

} // namespace

StagedLoop read_staged_loop(const For *loop, const std::set<std::string> &shared) {
    TakeStaging take(loop->name, shared);
    const Stmt body = take.mutate(loop->body);
    take.taken.body = body;
    return take.taken;
}

bool stores_into(const Stmt &s, const std::set<std::string> &arrays) { return accesses_of(s, arrays).stores; }

bool touches(const Stmt &s, const std::set<std::string> &arrays) {
    const FindAccesses found = accesses_of(s, arrays);
    return found.stores || found.loads;
}

} // namespace gyre::cuda
