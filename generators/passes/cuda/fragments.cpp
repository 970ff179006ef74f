#include "fragments.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;
namespace {

std::string at_text(const Expr &index) {
    std::ostringstream text;
    text << index;
    return text.str();
}

} // namespace

int Fragment::registers_of_tile() const {
    switch (kind) {
    case Kind::scalar:
        return 1;
    case Kind::row:
        return 2;
    default:
        return columns / tile_columns * (is_packed() ? 2 : 4);
    }
}

bool Fragment::is_own_warp(const Expr &index) const {
    const auto step = step_of(index, warp_index);
    return step == elements() || (step == 0 && size == elements());
}

const Fragment *Fragments::operator[](const std::string &array) const {
    const auto found = fragments.find(array);
    return found == fragments.end() ? nullptr : &found->second;
}

bool Fragments::is_same_in_row(const WarpNest &nest, const Expr &e) const {
    class HideRows : public IRMutator {
    public:
        explicit HideRows(const Fragments &all) : all(all) {}

    private:
        const Fragments &all;
        using IRMutator::visit;
        Expr visit(const Load *op) override {
            const Fragment *f = all[op->name];
            return f && f->kind != Fragment::Kind::matrix ? Variable::make(op->type, op->name) : IRMutator::visit(op);
        }
    };
    const Expr shown = HideRows(*this).mutate(e);
    for (const WarpLoop &loop : nest.others)
        if (expr_uses_var(shown, loop.name)) return false;
    for (const std::string &v : {nest.column, nest.depth})
        if (!v.empty() && expr_uses_var(shown, v)) return false;
    return true;
}

bool Fragments::stores_scalars(const Stmt &s) const {
    class Find : public IRVisitor {
    public:
        explicit Find(const Fragments &all) : all(all) {}
        bool scalars = false, others = false;

    private:
        const Fragments &all;
        using IRVisitor::visit;
        void visit(const Store *op) override {
            const Fragment *f = all[op->name];
            (f && f->kind == Fragment::Kind::scalar ? scalars : others) = true;
        }
    } find(*this);
    s.accept(&find);
    return find.scalars && !find.others;
}

void Fragments::find(const std::vector<WarpNest> &nests, const std::map<std::string, std::pair<Type, int>> &arrays) {
    fragments.clear();
    for (const auto &[name, type_and_size] : arrays) {
        Fragment &f = fragments[name];
        f.type = type_and_size.first;
        f.size = type_and_size.second;
        f.kind = f.size == 1 ? Fragment::Kind::scalar : Fragment::Kind::row;
    }
    // An array is one number a row if all that is stored into it is; assumed until something else is stored.
    for (bool settled = false; !settled;) {
        settled = true;
        for (const WarpNest &nest : nests)
            for (const WarpStore &store : nest.stores) {
                const auto found = fragments.find(store.array);
                if (found == fragments.end() || found->second.kind != Fragment::Kind::row ||
                    is_same_in_row(nest, store.value) ||
                    (nest.depth.empty() && is_same_in_row(nest, store.index))) // a reduction along the row
                    continue;
                found->second.kind = Fragment::Kind::matrix;
                settled = false;
            }
    }
    for (const WarpNest &nest : nests)
        for (const WarpStore &store : nest.stores) {
            const auto found = fragments.find(store.array);
            if (found == fragments.end()) continue;
            const auto columns = step_of(store.index, nest.row);
            nest.require(columns.has_value(), "has rows of " + store.array + " at unknown places");
            found->second.columns = static_cast<int>(*columns);
            found->second.row_tiles = nest.row_tiles.extent;
        }
}

Expr Fragments::tile(const WarpNest &nest, const std::string &array, const Expr &index,
                     const std::string &column) const {
    const Fragment &f = fragments.at(array);
    const auto is = [&](const std::string &variable, int64_t step) { return step_of(index, variable) == step; };
    nest.require(is(nest.row, f.columns), "has " + array + " in rows that are not its own, at " + at_text(index));
    nest.require(f.is_own_warp(index) && f.row_tiles == nest.row_tiles.extent, "has " + array + " of other warps");
    nest.require(is(nest.row_tiles.name, nest.row_tiles.name.empty() ? 0 : int64_t{tile_rows} * f.columns),
                 "has " + array + " in tiles of rows that are not its own");
    nest.require(is(column, 1), "has " + array + " in columns that are not its own");
    const Expr first = at_origin(index, {nest.row, column, warp_index, nest.row_tiles.name});
    nest.require(is_const_zero(simplify(first % tile_columns)), "has columns of " + array + " between tiles");
    const Expr along_columns = simplify(first / tile_columns);
    if (nest.row_tiles.name.empty()) return along_columns;
    return simplify(Variable::make(Int(32), nest.row_tiles.name) * (f.columns / tile_columns) + along_columns);
}

} // namespace gyre::cuda
