#include "product_ahead.h"

#include "copies.h"
#include "primitives.h"
#include "warp_nest.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

constexpr char ahead[] = "$ahead";

void flatten(const Stmt &s, std::vector<Stmt> *parts) {
    if (const Block *block = s.as<Block>()) {
        flatten(block->first, parts);
        flatten(block->rest, parts);
    } else {
        parts->push_back(s);
    }
}

/// The array that a statement stores into; "": none.
std::string stored_array(const Stmt &s) {
    class Find : public IRVisitor {
        using IRVisitor::visit;
        void visit(const Store *op) override { name = op->name; }

    public:
        std::string name;
    } find;
    s.accept(&find);
    return find.name;
}

class Take : public IRMutator {
public:
    explicit Take(const std::string &func) : func(func) {}
    TakenProduct taken;

private:
    const std::string &func;
    using IRMutator::visit;

    Stmt visit(const ProducerConsumer *op) override {
        if (!op->is_producer || op->name != func) return IRMutator::visit(op);
        std::vector<Stmt> parts, product, rest;
        flatten(op->body, &parts);
        constexpr size_t nests = 2; // the definition, and the product
        size_t found = 0;
        for (const Stmt &part : parts) {
            const std::string array = stored_array(part);
            if (!array.empty()) taken.sums = array;
            (found < nests ? product : rest).push_back(part);
            found += !array.empty();
        }
        if (found < nests) return op;
        taken.nothing = product.front();
        taken.product = Block::make(product);
        return ProducerConsumer::make_produce(op->name, rest.empty() ? Evaluate::make(0) : Block::make(rest));
    }
};

class Rename : public IRMutator {
public:
    Rename(const std::string &from, const std::string &to) : from(from), to(to) {}

private:
    const std::string &from, &to;
    using IRMutator::visit;
    Stmt visit(const Store *op) override {
        if (op->name != from) return IRMutator::visit(op);
        return Store::make(to, mutate(op->value), op->index, op->param, op->predicate, op->alignment);
    }
    Expr visit(const Load *op) override {
        if (op->name != from) return IRMutator::visit(op);
        return Load::make(op->type, to, op->index, op->image, op->param, op->predicate, op->alignment);
    }
};

class MakeRoom : public IRMutator {
public:
    explicit MakeRoom(const std::string &sums) : sums(sums) {}

private:
    const std::string &sums;
    using IRMutator::visit;
    Stmt visit(const Allocate *op) override {
        if (op->name != sums) return IRMutator::visit(op);
        const auto beside = [op](const std::string &name, const Stmt &body) {
            return Allocate::make(name, op->type, op->memory_type, op->extents, op->condition, body);
        };
        return beside(op->name, beside(sums_ahead(op->name), op->body));
    }
};

} // namespace

TakenProduct take_product(const Stmt &body, const std::string &func) {
    if (func.empty()) return {{}, {}, body, ""};
    Take take(func);
    const Stmt rest = take.mutate(body);
    take.taken.rest = rest;
    return take.taken;
}

std::string sums_ahead(const std::string &sums) { return sums + ahead; }

bool is_ahead(const std::string &array) {
    const size_t at = array.rfind(ahead);
    return at != std::string::npos && at + sizeof ahead - 1 == array.size();
}

Stmt with_sums_ahead(const Stmt &kernel, const std::string &product) {
    const TakenProduct taken = take_product(kernel, product);
    return taken.product.defined() ? MakeRoom(taken.sums).mutate(kernel) : kernel;
}

Stmt of_turn_into(const TakenProduct &taken, const Stmt &s, const std::string &loop, const Expr &turn,
                  const std::string &sums) {
    return Rename(taken.sums, sums).mutate(substitute(loop, turn, s));
}

} // namespace gyre::cuda
