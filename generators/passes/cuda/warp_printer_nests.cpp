// What a warp does with one nest of its tiles.
#include "primitives.h"
#include "warp_printer.h"

namespace gyre::cuda {
using namespace Halide;
using namespace Halide::Internal;

void WarpPrinter::print_nest(const WarpNest &read) {
    nest = &read;
    column = read.column;
    loops.push_back(read.name);
    Expr condition = read.condition, rest;
    if (condition.defined()) open("if (" + print_expr(condition) + ")");
    const WarpStore &first = read.stores.front();
    const Fragment *into = fragments[first.array];
    const bool along_row = into && into->kind == Fragment::Kind::row && !fragments.is_same_in_row(read, first.value);
    if (!read.depth.empty())
        print_product(first);
    else if (along_row)
        print_reduction(first);
    else
        print_elementwise();
    if (condition.defined()) close();
    loops.pop_back();
    nest = nullptr;
    cache.clear();
}

/// The register of an element, or of both elements of a packed pair, for the row and column that are being printed.
std::string WarpPrinter::register_of(const std::string &array, const Expr &index) {
    const Fragment &f = *fragments[array];
    const std::string name = print_name(array);
    if (f.kind == Fragment::Kind::scalar) return name + "[0]";
    if (!nest) refuse("elements of the tile " + array + " are used outside of a tile");
    if (f.kind == Fragment::Kind::row) {
        nest->require(step_of(index, nest->row) == f.columns && f.is_own_warp(index),
                      "has " + array + " in rows that are not its own");
        return name + "[half]";
    }
    const std::string tile = print_expr(fragments.tile(*nest, array, index, column));
    return name + "[" + tile + (f.is_packed() ? " * 2 + half]" : " * 4 + half * 2 + pair]");
}

/// Prints the largest parts of an expression that are the same along a row, before the columns are gone through.
Expr WarpPrinter::print_row_terms(const Expr &e) {
    class Hoist : public IRMutator {
    public:
        Hoist(WarpPrinter &p) : p(p) {}
        using IRMutator::mutate;
        Expr mutate(const Expr &e) override {
            if (is_const(e) || e.as<Variable>()) return e;
            if (!p.fragments.is_same_in_row(*p.nest, e)) return IRMutator::mutate(e);
            const std::string value = p.print_expr(e), name = p.fresh("of_row");
            p.stream << p.get_indent() << "const " << p.print_type(e.type()) << " " << p.print_name(name) << " = "
                     << value << ";\n";
            return Variable::make(e.type(), name);
        }

    private:
        WarpPrinter &p;
        Expr visit(const Load *op) override { return p.fragments[op->name] ? Expr(op) : IRMutator::visit(op); }
        // Only the branch that is asked for may be evaluated.
        Expr visit(const Call *op) override {
            return op->is_intrinsic(Call::if_then_else) ? Expr(op) : IRMutator::visit(op);
        }
        using IRMutator::visit;
    };
    return Hoist(*this).mutate(e);
}

// All that is stored for a row is formed before any of it is: a running maximum is read by what it rescales.
void WarpPrinter::print_elementwise() {
    std::vector<const WarpStore *> of_rows, of_columns;
    for (const WarpStore &store : nest->stores) {
        const Fragment *f = fragments[store.array];
        (f && f->kind == Fragment::Kind::row ? of_rows : of_columns).push_back(&store);
    }
    open_rows();
    std::vector<std::string> next;
    for (const WarpStore *store : of_rows) {
        const std::string value = print_expr(store->value), name = print_name(fresh("next"));
        stream << get_indent() << "const " << print_type(store->value.type()) << " " << name << " = " << value << ";\n";
        next.push_back(name);
    }
    if (!of_columns.empty()) print_stores_along_rows(of_columns);
    for (size_t i = 0; i < next.size(); i++)
        stream << get_indent() << register_of(of_rows[i]->array, of_rows[i]->index) << " = " << next[i] << ";\n";
    close();
}

void WarpPrinter::print_stores_along_rows(const std::vector<const WarpStore *> &stores) {
    std::vector<Expr> values;
    for (const WarpStore *store : stores) values.push_back(print_row_terms(store->value));
    if (nest->column.empty()) { // a number a row, in memory that all threads see
        open("if (GYRE_LANE % 4 == 0)");
        for (size_t i = 0; i < stores.size(); i++)
            print_stmt(Store::make(stores[i]->array, values[i], stores[i]->index, Parameter(), const_true(), {}));
        return close();
    }
    open_loops(nest->others);
    std::vector<std::string> packed;
    for (const WarpStore *store : stores) {
        const Fragment *f = fragments[store->array];
        packed.push_back(f && f->is_packed() ? print_name(fresh("both")) : "");
        if (!packed.back().empty()) {
            const Cast *narrowed = store->value.as<Cast>();
            const Type type = narrowed ? narrowed->value.type() : store->value.type();
            stream << get_indent() << print_type(type) << " " << packed.back() << "[2];\n";
        }
    }
    stream << get_indent() << "#pragma unroll\n";
    open("for (int pair = 0; pair < 2; pair++)");
    stream << get_indent() << "const int " << print_name(nest->column) << " = GYRE_LANE % 4 * 2 + pair;\n";
    std::vector<std::string> printed;
    for (size_t i = 0; i < stores.size(); i++) {
        if (!fragments[stores[i]->array]) continue; // printed with the store
        const Cast *narrowed = packed[i].empty() ? nullptr : values[i].as<Cast>();
        printed.push_back(print_expr(narrowed ? narrowed->value : values[i]));
    }
    for (size_t i = 0; i < stores.size(); i++) {
        const WarpStore &store = *stores[i];
        if (fragments[store.array]) {
            const std::string to = packed[i].empty() ? register_of(store.array, store.index) : packed[i] + "[pair]";
            stream << get_indent() << to << " = " << printed[i] << ";\n";
        } else {
            nest->require(stores.size() == 1, "stores into memory and elsewhere");
            print_stmt(Store::make(store.array, values[i], store.index, Parameter(), const_true(), {}));
        }
    }
    close();
    for (size_t i = 0; i < stores.size(); i++)
        if (!packed[i].empty())
            stream << get_indent() << register_of(stores[i]->array, stores[i]->index) << " = gyre_pack<"
                   << print_type(fragments[stores[i]->array]->type) << ">(" << packed[i] << "[0], " << packed[i]
                   << "[1]);\n";
    close(nest->others.size());
}

// Each lane reduces its columns, and the four lanes of a row what they found.
void WarpPrinter::print_reduction(const WarpStore &store) {
    const Max *greater = store.value.as<Max>();
    const Add *sum = store.value.as<Add>();
    nest->require(nest->stores.size() == 1 && (greater || sum), "reduces rows by something else than max or +");
    Expr old = greater ? greater->a : sum->a, each = greater ? greater->b : sum->b;
    if (!reads(old, store.array, store.index)) std::swap(old, each);
    nest->require(reads(old, store.array, store.index), "does not reduce what it stores");
    const std::string name = greater ? "gyre_max" : "gyre_add", type = print_type(store.value.type());
    const std::string part = print_name(fresh("part"));
    open_rows();
    stream << get_indent() << type << " " << part << " = " << (greater ? "GYRE_LEAST" : "0") << ";\n";
    open_loops(nest->others);
    stream << get_indent() << "#pragma unroll\n";
    open("for (int pair = 0; pair < 2; pair++)");
    stream << get_indent() << "const int " << print_name(nest->column) << " = GYRE_LANE % 4 * 2 + pair;\n";
    const std::string value = print_expr(each);
    stream << get_indent() << part << " = " << name << "(" << part << ", " << value << ");\n";
    close(nest->others.size() + 1);
    const std::string to = register_of(store.array, store.index);
    stream << get_indent() << to << " = " << name << "(" << to << ", "
           << (greater ? "gyre_quad_max(" : "gyre_quad_sum(") << part << "));\n";
    close();
}

namespace {

/// What is widened to f32.
const Load *operand(const Expr &e) {
    const Cast *cast = e.as<Cast>();
    return cast && cast->type == Float(32) ? cast->value.as<Load>() : nullptr;
}

} // namespace

// c += a b: a from a fragment, whose columns are the depth; b from shared memory, two tiles by one instruction.
void WarpPrinter::print_product(const WarpStore &store) {
    const WarpNest &n = *nest;
    const Add *sum = store.value.as<Add>();
    if (sum)
        for (const auto &[each, other] : {std::pair(sum->a, sum->b), std::pair(sum->b, sum->a)})
            if (const Call *call = each.as<Call>(); call && call->name == seen_product)
                return print_product_of_seen(store, *call, other);
    const Expr added = added_to(store.array, store.index, store.value);
    const Mul *product = added.defined() ? added.as<Mul>() : nullptr;
    n.require(n.stores.size() == 1 && product, "does not add a product to what it stores");
    const Load *a = operand(product->a), *b = operand(product->b);
    n.require(a && b && a->type == b->type && a->type.bits() == 16, "has factors that are not both of 16 bits");
    if (shared.count(a->name)) std::swap(a, b);
    const Fragment *left = fragments[a->name], *into = fragments[store.array];
    n.require(left && left->is_packed() && shared.count(b->name),
              "has factors elsewhere than in a fragment and in shared memory");
    n.require(into && into->kind == Fragment::Kind::matrix && into->type == Float(32), "adds to no fragment in f32");
    std::vector<WarpLoop> of_depth, of_columns;
    for (const WarpLoop &loop : n.others) (expr_uses_var(a->index, loop.name) ? of_depth : of_columns).push_back(loop);
    for (const WarpLoop &loop : of_depth)
        n.require(!expr_uses_var(store.index, loop.name), "has a loop along rows, " + loop.name);
    n.require(of_columns.size() == 1 && of_columns[0].extent % 2 == 0, "has no even number of tiles along " + n.column);

    is_touched = true;
    open_loops(of_depth);
    const std::string tile = print_expr(fragments.tile(n, a->name, a->index, n.depth)), words = print_name(fresh("a"));
    stream << get_indent() << "const uint32_t *const " << words << " = " << print_name(a->name) << " + " << tile
           << " * 2;\n";
    const WarpLoop &tiles = of_columns[0];
    const std::string v = print_name(tiles.name);
    stream << get_indent() << "#pragma unroll\n";
    open("for (int " + v + " = 0; " + v + " < " + std::to_string(tiles.extent) + "; " + v + " += 2)");
    n.require(step_of(b->index, tiles.name) == tile_columns * step_of(b->index, n.column).value_or(0) &&
                  step_of(store.index, tiles.name) == tile_columns,
              "has neighbouring tiles that do not lie side by side");
    print_tiles_of_b(b, store, words);
    close(of_depth.size() + 1);
}

// Prints the product where some values count in some rows only. A function tells which, for a lane's elements in the layout of its
// weights.
void WarpPrinter::print_product_of_seen(const WarpStore &store, const Call &product, const Expr &before) {
    const WarpNest &n = *nest;
    const Load *a = operand(product.args[0]), *b = operand(product.args[1]);
    const Fragment *left = a ? fragments[a->name] : nullptr, *into = fragments[store.array];
    n.require(n.stores.size() == 1 && reads(before, store.array, store.index),
              "does not add a product to what it stores");
    n.require(left && left->is_packed() && b && b->type == a->type && shared.count(b->name),
              "has factors elsewhere than in a fragment and in shared memory");
    n.require(into && into->kind == Fragment::Kind::matrix && into->type == Float(32), "adds to no fragment in f32");
    const auto along_depth = step_of(b->index, n.depth);
    n.require(along_depth && step_of(b->index, n.column) == 1, "has rows in shared memory that are not dense");
    std::vector<std::string> loops{n.depth, n.column}, of_depth;
    for (const WarpLoop &loop : n.others) {
        loops.push_back(loop.name);
        if (expr_uses_var(a->index, loop.name)) of_depth.push_back(loop.name);
    }
    n.require(of_depth.size() <= 1, "has several loops over tiles along " + n.depth);
    const std::string seen = print_name(fresh("seen"));
    open("const auto " + seen + " = [&](int depth, int half, int right, int pair)");
    stream << get_indent() << "const int " << print_name(n.row) << " = GYRE_LANE / 4 + 8 * half, "
           << print_name(n.depth) << " = GYRE_LANE % 4 * 2 + pair;\n";
    if (!of_depth.empty()) stream << get_indent() << "const int " << print_name(of_depth[0]) << " = depth;\n";
    column = n.depth;
    for (const int right : {1, 0}) {
        const Expr k = Variable::make(Int(32), n.depth);
        if (right) open("if (right)");
        const std::string holds = print_expr(substitute(n.depth, k + right * tile_columns, product.args[2]));
        stream << get_indent() << "return " << holds << ";\n";
        if (right) close();
        cache.clear();
    }
    column = n.column;
    indent -= 1;
    stream << get_indent() << "};\n";
    const std::string first = print_expr(at_origin(b->index, loops));
    is_touched = true;
    stream << get_indent() << product.name << "<" << print_type(b->type) << ", " << left->columns / tile_depth << ", "
           << into->columns / tile_columns << ", " << *along_depth << ">(" << print_name(store.array) << ", "
           << print_name(a->name) << ", " << seen << ", " << print_name(b->name) << ", " << first << ");\n";
    cache.clear();
}

void WarpPrinter::print_tiles_of_b(const Load *b, const WarpStore &store, const std::string &a) {
    const WarpNest &n = *nest;
    const auto along_depth = step_of(b->index, n.depth), along_columns = step_of(b->index, n.column);
    n.require(along_depth && along_columns && (along_depth == 1 || along_columns == 1),
              "has a factor in shared memory without dense rows");
    // Which row of 8 elements this lane points at. ldmatrix gives each lane pairs along a row: rows are to be columns of the
    // product, or they are transposed on the way.
    const bool transposed = along_depth != 1;
    const std::string column_of_lane = transposed ? "GYRE_LANE / 16 * 8" : "GYRE_LANE % 8 + GYRE_LANE / 16 * 8";
    const std::string depth_of_lane = transposed ? "GYRE_LANE % 16" : "GYRE_LANE / 8 % 2 * 8";
    const std::string first = print_expr(at_origin(b->index, {n.depth, n.column}));
    const std::string words = print_name(fresh("b")), type = print_type(b->type), memory = print_name(b->name);
    stream << get_indent() << "uint32_t " << words << "[4];\n"
           << get_indent() << "gyre_load_tiles" << (transposed ? "_transposed<" : "<") << type << ">(" << words << ", "
           << memory << ", " << first << " + (" << column_of_lane << ") * " << *along_columns << " + (" << depth_of_lane
           << ") * " << *along_depth << ");\n";
    const std::string tile = print_expr(fragments.tile(n, store.array, store.index, n.column));
    for (const int next : {0, 1})
        stream << get_indent() << "gyre_mma<" << type << ">(" << print_name(store.array) << " + (" << tile << " + "
               << next << ") * 4, " << a << ", " << words << " + " << 2 * next << ");\n";
    cache.clear();
}

} // namespace gyre::cuda
