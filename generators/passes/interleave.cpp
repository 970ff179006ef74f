#include "interleave.h"

#include "tile_sequence.h"

#include <deque>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

/// Gives what is allocated another name.
class Rename : public IRMutator {
public:
    Rename(const std::string &from, const std::string &to) : from(from), to(to) {}

private:
    const std::string from, to;

    const std::string &renamed(const std::string &name) const { return name == from ? to : name; }

    using IRMutator::visit;
    Expr visit(const Load *op) override {
        return Load::make(op->type, renamed(op->name), mutate(op->index), op->image, op->param, mutate(op->predicate),
                          op->alignment);
    }
    Stmt visit(const Store *op) override {
        return Store::make(renamed(op->name), mutate(op->value), mutate(op->index), op->param, mutate(op->predicate),
                           op->alignment);
    }
    Expr visit(const Variable *op) override { return Variable::make(op->type, renamed(op->name)); }
    Stmt visit(const Free *op) override { return Free::make(renamed(op->name)); }
};

/// A statement without blocks, lets and loops, and the allocations in it.
struct Flat {
    struct Allocation {
        std::string name;
        Stmt statement; // under its former name
    };
    std::deque<Stmt> statements;
    std::vector<Allocation> allocations;
    bool products = false;

    explicit Flat(const Stmt &s) { add(s); }

private:
    void add(const Stmt &s) {
        if (const auto *block = s.as<Block>()) {
            add(block->first);
            add(block->rest);
        } else if (const auto *production = s.as<ProducerConsumer>()) {
            add(production->body);
        } else if (const auto *let = s.as<LetStmt>()) {
            add(substitute(let->name, let->value, let->body));
        } else if (const auto *allocation = s.as<Allocate>()) {
            allocations.push_back({unique_name(allocation->name), s});
            add(Rename(allocation->name, allocations.back().name).mutate(allocation->body));
        } else if (const auto *loop = s.as<For>(); loop && as_const_int(loop->extent)) {
            for (int i = 0; i < *as_const_int(loop->extent); i++)
                add(substitute(loop->name, simplify(loop->min + i), loop->body));
        } else if (!is_no_op(s)) {
            statements.push_back(simplify(s));
            products = products || tile_call(s, "tile_matmul");
        }
    }
};

Stmt take(std::deque<Stmt> &from) {
    const Stmt first = from.front();
    from.pop_front();
    return first;
}

size_t count(const std::deque<Stmt> &statements, const char *name) {
    size_t n = 0;
    for (const Stmt &s : statements) n += tile_call(s, name) != nullptr;
    return n;
}

/// Products of all. Before each tile that the first one stores, its share of the others' statements; if there are none, its
/// own next products.
std::deque<Stmt> merge_products(std::vector<std::deque<Stmt>> all) {
    std::deque<Stmt> merged, others, stores;
    for (size_t i = 1; i < all.size(); i++) others.insert(others.end(), all[i].begin(), all[i].end());
    if (all.empty()) return merged;
    for (size_t left = count(all[0], "tile_store"); !all[0].empty();) {
        const Stmt s = take(all[0]);
        const bool store = tile_call(s, "tile_store");
        if (store && !others.empty())
            for (size_t share = others.size() / left--; share > 0; share--) merged.push_back(take(others));
        else if (store && count(all[0], "tile_matmul") > 0) {
            stores.push_back(s);
            continue;
        }
        merged.push_back(s);
        if (!stores.empty() && tile_call(s, "tile_matmul")) merged.push_back(take(stores));
    }
    for (const auto &more : {stores, others}) merged.insert(merged.end(), more.begin(), more.end());
    return merged;
}

} // namespace

Stmt interleave(const std::vector<Stmt> &statements) {
    std::vector<Flat> flat;
    for (const Stmt &s : statements) flat.emplace_back(s);
    std::vector<std::deque<Stmt>> products;
    std::deque<Stmt> rest;
    for (const Flat &f : flat) {
        if (f.products)
            products.push_back(f.statements);
        else
            rest.insert(rest.end(), f.statements.begin(), f.statements.end());
    }
    const std::deque<Stmt> merged = merge_products(products);
    TileSequence sequence(TileSequence::Shared::with_last);
    size_t left = count(merged, "tile_matmul");
    const auto add_rest = [&](size_t share) {
        for (; share > 0; share--) sequence.add(take(rest));
    };
    for (const Stmt &s : merged) {
        sequence.add(s);
        if (tile_call(s, "tile_matmul")) add_rest(rest.size() / left--);
    }
    add_rest(rest.size());

    Stmt all = sequence.statement();
    for (const Flat &f : flat)
        for (const auto &[name, statement] : f.allocations) {
            const auto *a = statement.as<Allocate>();
            all = Allocate::make(name, a->type, a->memory_type, a->extents, a->condition, all);
        }
    return all;
}

} // namespace gyre
