#include "equal_elements.h"

#include "../loop_mutator.h"
#include "../loop_name.h"

#include <algorithm>
#include <map>
#include <vector>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// Knows what is named within a loop over `variable`, so that indices are written by its own variable.
class TurnMutator : public LoopMutator {
public:
    TurnMutator(const std::string &variable, const std::string &missing) : LoopMutator(missing), variable(variable) {}

protected:
    const For *loop = nullptr; // over `variable`, whose body this is in

    /// The loop, once it is mutated, and what goes around it.
    virtual Stmt around(const Stmt &whole) { return whole; }
    /// What a name stands for.
    virtual Expr named(const Expr &value) { return value; }
    Expr without_names(const Expr &e) const { return substitute(inner, e); }
    Expr of_turn(const Expr &turn, const Expr &index) const {
        return simplify(substitute(loop->name, turn, without_names(index)));
    }

    using LoopMutator::visit;
    Stmt visit(const For *op) override {
        if (loop || variable_of_loop(op->name) != variable) return LoopMutator::visit(op);
        loop = op;
        const Stmt turns = LoopMutator::visit(op);
        loop = nullptr;
        inner.clear();
        return around(turns);
    }
    Expr visit(const Let *op) override {
        note(op);
        return LoopMutator::visit(op);
    }
    Stmt visit(const LetStmt *op) override {
        note(op);
        return LoopMutator::visit(op);
    }

private:
    const std::string variable;
    std::map<std::string, Expr> inner;

    template <class Named>
    void note(const Named *op) {
        if (loop) inner[op->name] = without_names(named(op->value));
    }
};

class LoadOnce : public TurnMutator {
public:
    LoadOnce(const std::string &allocation, const std::string &variable)
        : TurnMutator(variable, "no loop over " + variable + " loads equal elements of " + allocation),
          allocation(allocation) {}

private:
    const std::string allocation;
    std::vector<Expr> first; // the loads of the loop's first turn

    std::string name_of(size_t load) const { return allocation + ".of_all_" + std::to_string(load); }

    Stmt around(const Stmt &whole) override {
        Stmt turns = whole;
        found = found || !first.empty();
        for (size_t load = 0; load < first.size(); load++) turns = LetStmt::make(name_of(load), first[load], turns);
        first.clear();
        return turns;
    }
    using TurnMutator::visit;
    Expr visit(const Load *op) override {
        if (!loop || op->name != allocation) return TurnMutator::visit(op);
        const Expr index = of_turn(loop->min, op->index);
        const Expr load = Load::make(op->type, op->name, index, {}, {}, const_true(op->type.lanes()), {});
        const auto same =
            std::find_if(first.begin(), first.end(), [&](const Expr &other) { return equal(other, load); });
        const auto place = static_cast<size_t>(same - first.begin());
        if (same == first.end()) first.push_back(load);
        return Variable::make(op->type, name_of(place));
    }
};

class KeepOnce : public TurnMutator {
public:
    KeepOnce(const std::set<std::string> &allocations, const std::string &variable)
        : TurnMutator(variable, "no loop over " + variable + " stores equal elements of " + *allocations.begin()),
          allocations(allocations) {}

private:
    const std::set<std::string> allocations;

    Expr named(const Expr &value) override { return mutate(value); }
    Expr of_first_turn(const Expr &index) const { return of_turn(0, index); }
    using TurnMutator::visit;
    Expr visit(const Load *op) override {
        if (!loop || !allocations.count(op->name)) return TurnMutator::visit(op);
        return Load::make(op->type, op->name, of_first_turn(op->index), op->image, op->param, op->predicate, {});
    }
    bool is_kept(const Stmt &statement) const {
        const Store *const store = statement.as<Store>();
        return loop && store && allocations.count(store->name) > 0;
    }
    // Stores that follow each other: the last turn forms all values before it stores any, as any of them may be made of what is there.
    Stmt keep(const std::vector<const Store *> &stores) {
        _halide_user_assert(stores.size() == allocations.size())
            << "loop " << loop->name << " stores " << int(stores.size())
            << " equal elements after each other, expected " << int(allocations.size()) << "\n";
        found = true;
        const auto name_of = [](const Store *store) { return store->name + ".kept"; };
        std::vector<Stmt> stored;
        for (const Store *store : stores) {
            const Expr value = Variable::make(store->value.type(), name_of(store));
            stored.push_back(Store::make(store->name, value, of_first_turn(store->index), store->param,
                                         store->predicate, ModulusRemainder()));
        }
        Stmt kept = Block::make(stored);
        for (const Store *store : stores)
            kept = LetStmt::make(name_of(store), without_names(mutate(store->value)), kept);
        const Expr turn = Variable::make(Int(32), loop->name);
        return IfThenElse::make(turn == simplify(loop->min + loop->extent - 1), kept);
    }
    Stmt visit(const Block *op) override {
        if (!is_kept(op->first)) return TurnMutator::visit(op);
        std::vector<const Store *> stores{op->first.as<Store>()};
        Stmt rest = op->rest;
        while (const Block *more = rest.as<Block>()) {
            if (!is_kept(more->first)) break;
            stores.push_back(more->first.as<Store>());
            rest = more->rest;
        }
        if (!is_kept(rest)) return Block::make(keep(stores), mutate(rest));
        stores.push_back(rest.as<Store>());
        return keep(stores);
    }
    Stmt visit(const Store *op) override { return is_kept(op) ? keep({op}) : TurnMutator::visit(op); }
};

} // namespace

void keep_equal_elements_once(GeneratorBase &generator, const std::set<std::string> &allocations,
                              const std::string &variable) {
    generator.get_pipeline().add_custom_lowering_pass(new KeepOnce(allocations, variable));
}

void load_equal_elements_once(GeneratorBase &generator, const std::string &allocation, const std::string &variable) {
    generator.get_pipeline().add_custom_lowering_pass(new LoadOnce(allocation, variable));
}

} // namespace gyre
