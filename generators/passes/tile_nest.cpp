#include "tile_nest.h"

#include "loop_name.h"
#include "nest_index.h"
#include "tile_products.h"

#include <map>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

class SubstituteLets : public IRMutator {
    using IRMutator::visit;
    Expr visit(const Let *op) override { return mutate(substitute(op->name, mutate(op->value), op->body)); }
};

class FindLoads : public IRVisitor {
public:
    std::vector<const Load *> loads;

private:
    using IRVisitor::visit;
    void visit(const Load *op) override {
        for (const Load *known : loads)
            if (known->name == op->name && equal(known->index, op->index)) return;
        loads.push_back(op);
    }
};

class Reader {
public:
    explicit Reader(const For *outermost) : outermost(outermost) {}

    TileNest read() {
        find_store();
        for (const char *loop : {tile_row_loop, tile_column_loop})
            require(loops.count(loop), std::string("has no loop ") + loop);
        row = loops[tile_row_loop];
        column = loops[tile_column_loop];
        const Expr value = SubstituteLets().mutate(store->value), index = SubstituteLets().mutate(store->index);
        const Load *source = value.as<Load>();
        if (loops.count(tile_depth_loop)) {
            nest.kind = TileNest::Kind::multiply_add;
            read_accumulator(store->name, index);
            read_product(store->name, index, value);
        } else if (source) {
            nest.kind = TileNest::Kind::store;
            read_accumulator(source->name, source->index);
            nest.out = {store->name, at_first_turn(index) * 4, static_cast<int>(4 * step(index, row))};
            require(step(index, column) == 1, "does not store dense rows of columns");
            require(store->value.type() == Float(32), "does not store f32");
        } else {
            require(is_const_zero(value), "sets an accumulator to something else than 0");
            read_accumulator(store->name, index);
        }
        return nest;
    }

private:
    const For *const outermost;
    std::map<std::string, std::string> loops; // kind of loop -> its variable
    std::string row, column, depth;
    Stmt innermost;
    const Store *store = nullptr;
    TileNest nest;

    void require(bool condition, const std::string &what) const {
        _halide_user_assert(condition) << "tile product " << outermost->name << " " << what << ":\n" << Stmt(outermost);
    }

    void find_store() {
        Stmt s = outermost;
        for (;;) {
            if (const For *loop = s.as<For>()) {
                const std::string kind = variable_of_loop(loop->name);
                const int turns = kind == tile_depth_loop ? tile_depth : tile_rows;
                require(is_tile_loop(loop) && !loops.count(kind), "has another loop in it, " + loop->name);
                require(is_const_zero(loop->min) && is_const(loop->extent, turns), "has too many or too few turns");
                loops[kind] = loop->name;
                s = loop->body;
            } else if (const LetStmt *let = s.as<LetStmt>()) {
                s = substitute(let->name, let->value, let->body);
            } else if (const IfThenElse *branch = s.as<IfThenElse>()) {
                for (const auto &[kind, name] : loops)
                    require(!expr_uses_var(branch->condition, name), "has a condition on " + name);
                require(!branch->else_case.defined(), "has two branches");
                nest.conditions.push_back(branch->condition);
                s = branch->then_case;
            } else {
                break;
            }
        }
        innermost = s;
        store = s.as<Store>();
        require(store && is_const_one(store->predicate), "does not come down to one store");
    }

    Expr at_first_turn(const Expr &e) const {
        std::vector<std::string> variables;
        for (const auto &[kind, name] : loops) variables.push_back(name);
        return at_origin(e, variables);
    }

    /// By how much an index grows with a loop's variable, in all turns of the nest; it may depend on other loops.
    Expr any_step(const Expr &index, const std::string &variable) const {
        const Expr difference = any_step_of(index, variable);
        for (const auto &[kind, name] : loops)
            require(!expr_uses_var(difference, name), "has an index that is not linear in " + variable);
        return difference;
    }

    /// any_step() as a number; it stops the build where the step is no constant.
    int64_t step(const Expr &index, const std::string &variable) const {
        const auto constant = as_const_int(any_step(index, variable));
        require(constant.has_value(), "has an index that does not grow by a constant with " + variable);
        return *constant;
    }

    void read_accumulator(const std::string &name, const Expr &index) {
        nest.accumulator = name;
        nest.row_stride = step(index, row);
        const auto first = as_const_int(at_first_turn(index));
        require(first.has_value(), "has an accumulator at an unknown place of " + name);
        nest.first = *first;
        require(step(index, column) == 1, "has an accumulator whose columns are not dense");
    }

    void read_product(const std::string &name, const Expr &index, const Expr &value) {
        depth = loops[tile_depth_loop];
        const Expr added = added_to(name, index, value);
        const Mul *product = added.defined() ? added.as<Mul>() : nullptr;
        require(product, "does not add a product");
        const bool a_first = expr_uses_var(product->a, row);
        nest.a = read_operand(a_first ? product->a : product->b, row);
        nest.b = read_operand(a_first ? product->b : product->a, column);
    }

    /// The bf16 number that `operand` is, as a byte offset into a buffer.
    Expr bf16_address(const Expr &operand, std::string &buffer) const {
        const Reinterpret *bits = operand.as<Reinterpret>();
        FindLoads found;
        operand.accept(&found);
        require(bits && bits->value.type() == UInt(32) && found.loads.size() == 1, "has an operand that is no bf16");
        const Load *load = found.loads[0];
        require(buffer.empty() || buffer == load->name, "has an operand in two buffers");
        buffer = load->name;
        const auto value_of = [&](uint32_t stored) {
            const Expr constant = make_const(load->type, stored);
            return as_const_uint(simplify(substitute(Expr(load), constant, bits->value)));
        };
        const int bytes = load->type.bytes();
        const uint32_t low = 0x3f81, high = bytes == 4 ? 0x4012 : 0;
        const auto value = value_of(high << 16 | low);
        require(load->type.is_uint() && value && (*value == low << 16 || (bytes == 4 && *value == high << 16)),
                "has an operand that is no bf16");
        return simplify(load->index * bytes + (*value == low << 16 ? 0 : 2));
    }

    TileInMemory read_operand(const Expr &operand, const std::string &outer) const {
        const bool is_a = outer == row;
        require(!expr_uses_var(operand, is_a ? column : row), "has operands that are not of a row and of a column");
        TileInMemory tile;
        std::vector<Expr> address;
        for (int k = 0; k < tile_depth; k++)
            address.push_back(
                bf16_address(simplify(lower_intrinsics(simplify(substitute(depth, k, operand)))), tile.buffer));
        tile.first = at_first_turn(address[0]);
        const auto distance = [&](int k) {
            const auto bytes = as_const_int(simplify(address[k] - address[0]));
            require(bytes.has_value(), "has an operand at no constant distance along the depth");
            return *bytes;
        };
        const int64_t pair_stride = distance(2);
        tile.row_stride = is_a ? any_step(address[0], outer) : Expr(static_cast<int>(pair_stride));
        require(is_a || step(address[0], outer) == 4, "has an operand b without dense columns");
        for (int k = 0; k < tile_depth; k++)
            require(distance(k) == (is_a ? 2 * k : k / 2 * pair_stride + k % 2 * 2),
                    is_a ? "has an operand a without dense rows" : "has an operand b that is not in pairs");
        return tile;
    }
};

} // namespace

bool is_tile_loop(const For *loop) {
    const std::string kind = variable_of_loop(loop->name);
    return kind == tile_row_loop || kind == tile_column_loop || kind == tile_depth_loop;
}

TileNest read_tile_nest(const For *loop) { return Reader(loop).read(); }

} // namespace gyre
