#include "register_values.h"

#include <map>
#include <optional>
#include <vector>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// The first of a dense run of elements at a constant place.
std::optional<int64_t> constant_base(const Expr &index) {
    const Ramp *ramp = index.as<Ramp>();
    if (ramp && !is_const_one(ramp->stride)) return {};
    const Expr first = ramp ? ramp->base : index;
    const std::optional<int64_t> base = as_const_int(first);
    return base;
}

/// What the production of one Func stores, and the lets that it is made of, in order.
class Production : public IRVisitor {
public:
    std::vector<std::pair<std::string, Expr>> values;
    std::map<int64_t, Expr> stored; // by the place of the first element
    bool simple = true;

    explicit Production(const std::string &name) : name(name) {}

private:
    using IRVisitor::visit;
    const std::string &name;

    void visit(const LetStmt *op) override {
        values.emplace_back(op->name, op->value);
        op->body.accept(this);
    }
    void visit(const Store *op) override {
        const std::optional<int64_t> base = constant_base(op->index);
        simple = simple && base && op->name == name && is_const_one(op->predicate) && stored.count(*base) == 0;
        if (!simple) return;
        const std::string value = unique_name(name + ".value");
        values.emplace_back(value, op->value);
        stored[*base] = Variable::make(op->value.type(), value);
    }
    void visit(const For *) override { simple = false; }
    void visit(const IfThenElse *) override { simple = false; }
    void visit(const Allocate *) override { simple = false; }
};

/// Takes the loads of one Func from its values.
class TakeValues : public IRMutator {
public:
    bool all = true; // loads could be taken

    TakeValues(const std::string &name, const std::map<int64_t, Expr> &stored) : name(name), stored(stored) {}

private:
    using IRMutator::visit;
    const std::string &name;
    const std::map<int64_t, Expr> &stored;

    Expr visit(const Load *op) override {
        if (op->name != name) return IRMutator::visit(op);
        const std::optional<int64_t> first = constant_base(op->index);
        for (const auto &[base, value] : stored)
            if (first && base <= *first && *first + op->type.lanes() <= base + value.type().lanes())
                return slice(value, static_cast<int>(*first - base), op->type.lanes());
        all = false;
        return op;
    }
    Stmt visit(const ProducerConsumer *op) override {
        return op->name == name && op->is_producer ? Evaluate::make(0) : IRMutator::visit(op);
    }
    Stmt visit(const Free *op) override { return op->name == name ? Evaluate::make(0) : IRMutator::visit(op); }

    static Expr slice(const Expr &value, int begin, int lanes) {
        if (lanes == value.type().lanes()) return value;
        if (lanes == 1) return Shuffle::make_extract_element(value, begin);
        return Shuffle::make_slice(value, begin, 1, lanes);
    }
};

class FindProduction : public IRVisitor {
public:
    Production found;
    int count = 0;

    explicit FindProduction(const std::string &name) : found(name), name(name) {}

private:
    using IRVisitor::visit;
    const std::string &name;

    void visit(const ProducerConsumer *op) override {
        if (op->name != name || !op->is_producer) return IRVisitor::visit(op);
        count++;
        op->body.accept(&found);
    }
};

class KeepValues : public IRMutator {
    using IRMutator::visit;

    Stmt visit(const Allocate *op) override {
        if (op->memory_type != MemoryType::Register) return IRMutator::visit(op);
        FindProduction production(op->name);
        op->body.accept(&production);
        TakeValues take(op->name, production.found.stored);
        Stmt body = take.mutate(op->body);
        if (production.count != 1 || !production.found.simple || !take.all) return IRMutator::visit(op);
        body = mutate(body);
        const auto &values = production.found.values;
        for (auto value = values.rbegin(); value != values.rend(); ++value)
            body = LetStmt::make(value->first, value->second, body);
        return body;
    }
};

} // namespace

void keep_values_in_registers(GeneratorBase &generator) {
    generator.get_pipeline().add_custom_lowering_pass(new KeepValues);
}

} // namespace gyre
