#include "tile_sequence.h"

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;

const Call *tile_call(const Stmt &s, const char *name) {
    const auto *store = s.as<Store>();
    const auto *evaluate = s.as<Evaluate>();
    const auto *call = store ? store->value.as<Call>() : evaluate ? evaluate->value.as<Call>() : nullptr;
    return call && call->name == name ? call : nullptr;
}

void TileSequence::add(const Stmt &s) {
    const Call *product = tile_call(s, "tile_matmul");
    if (!product) {
        if (shared == Shared::in_a_row) loaded.clear();
        steps.push_back({"", {}, s});
        return;
    }
    const std::vector<Loaded> before = loaded;
    if (shared == Shared::with_last) loaded.clear();
    std::vector<Expr> args = product->args;
    for (size_t operand : {4, 5}) args[operand] = load(args[operand], before);
    const auto *store = s.as<Store>();
    steps.push_back({"",
                     {},
                     Store::make(store->name, Call::make(product->type, product->name, args, product->call_type),
                                 store->index, store->param, store->predicate, store->alignment)});
}

Expr TileSequence::load(const Expr &operand, const std::vector<Loaded> &before) {
    std::string name;
    for (const Loaded &l : before)
        if (equal(l.value, operand)) name = l.name;
    const bool known = !name.empty();
    if (!known) {
        name = unique_name("operand");
        steps.push_back({name, operand, {}});
    }
    if (!known || shared == Shared::with_last) loaded.push_back({operand, name});
    return Variable::make(operand.type(), name);
}

Stmt TileSequence::statement() const {
    Stmt all;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        if (!step->name.empty())
            all = LetStmt::make(step->name, step->value, all);
        else
            all = all.defined() ? Block::make(step->statement, all) : step->statement;
    }
    return all;
}

} // namespace gyre
