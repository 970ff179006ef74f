#include "interleave.h"

#include "../instructions/tile_sequence.h"

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

/// Products of all. After each tile that the first one stores, its share of the others' statements: what is stored no longer takes a
/// register beside them. If there are none, the first one's own next product stands before the store.
std::deque<Stmt> merge_products(std::vector<std::deque<Stmt>> all) {
    std::deque<Stmt> merged, others, stores;
    for (size_t i = 1; i < all.size(); i++) others.insert(others.end(), all[i].begin(), all[i].end());
    if (all.empty()) return merged;
    for (size_t left = count(all[0], "tile_store"); !all[0].empty();) {
        const Stmt s = take(all[0]);
        const bool store = tile_call(s, "tile_store");
        if (store && others.empty() && count(all[0], "tile_matmul") > 0) {
            stores.push_back(s);
            continue;
        }
        merged.push_back(s);
        if (store && !others.empty())
            for (size_t share = others.size() / left--; share > 0; share--) merged.push_back(take(others));
        if (!stores.empty() && tile_call(s, "tile_matmul")) merged.push_back(take(stores));
    }
    for (const auto &more : {stores, others}) merged.insert(merged.end(), more.begin(), more.end());
    return merged;
}

/// Takes the sums of columns (tile_products.h) out of products: they add to vectors of their own what no product writes.
std::deque<Stmt> take_sums(std::deque<Stmt> *from) {
    std::deque<Stmt> sums, others;
    for (const Stmt &s : *from) (tile_call(s, "dot_product") ? sums : others).push_back(s);
    *from = others;
    return sums;
}

/// Both in their order, spread evenly.
std::deque<Stmt> spread(std::deque<Stmt> a, std::deque<Stmt> b) {
    std::deque<Stmt> all;
    for (size_t left = a.size(); left > 0; left--) {
        all.push_back(take(a));
        for (size_t share = b.size() / left; share > 0; share--) all.push_back(take(b));
    }
    all.insert(all.end(), b.begin(), b.end());
    return all;
}

} // namespace

Stmt interleave(const std::vector<Stmt> &statements) {
    std::vector<Flat> flat;
    for (const Stmt &s : statements) flat.emplace_back(s);
    std::vector<std::deque<Stmt>> products;
    std::deque<Stmt> rest;
    for (Flat &f : flat) {
        if (f.products) {
            rest = spread(rest, take_sums(&f.statements));
            products.push_back(f.statements);
        } else {
            rest = spread(rest, f.statements);
        }
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
