#include "tile_nest.h"

#include "nest_index.h"
#include "tile_loops.h"
#include "tile_products.h"

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

/// Gives a load a value; of one of bf16 numbers, their bits.
class SubstituteBits : public IRMutator {
public:
    SubstituteBits(const Load *load, const Expr &bits) : load(load), bits(bits) {}

private:
    const Expr load, bits;

    using IRMutator::visit;
    Expr visit(const Load *op) override { return op->type == bits.type() && equal(op, load) ? bits : Expr(op); }
    Expr visit(const Reinterpret *op) override {
        return op->type == bits.type() && equal(op->value, load) ? bits : IRMutator::visit(op);
    }
};

class Reader {
public:
    explicit Reader(const For *outermost) : loops(outermost) {}

    TileNest read() {
        nest.conditions = loops.conditions;
        const Store *store = loops.store;
        const Expr value = SubstituteLets().mutate(store->value), index = SubstituteLets().mutate(store->index);
        const Load *source = value.as<Load>();
        if (!loops.depth.empty()) {
            nest.kind = TileNest::Kind::multiply_add;
            read_accumulator(store->name, index);
            read_product(store->name, index, value);
        } else if (source) {
            nest.kind = TileNest::Kind::store;
            read_accumulator(source->name, source->index);
            nest.out = {store->name, loops.at_first_turn(index) * 4,
                        static_cast<int>(4 * loops.step(index, loops.row))};
            loops.require(loops.step(index, loops.column) == 1, "does not store dense rows of columns");
            loops.require(store->value.type() == Float(32), "does not store f32");
        } else {
            loops.require(is_const_zero(value), "sets an accumulator to something else than 0");
            read_accumulator(store->name, index);
        }
        return nest;
    }

private:
    const TileLoops loops;
    TileNest nest;

    void read_accumulator(const std::string &name, const Expr &index) {
        nest.accumulator = name;
        nest.row_stride = loops.step(index, loops.row);
        const auto first = as_const_int(loops.at_first_turn(index));
        loops.require(first.has_value(), "has an accumulator at an unknown place of " + name);
        nest.first = *first;
        loops.require(loops.step(index, loops.column) == 1, "has an accumulator whose columns are not dense");
    }

    void read_product(const std::string &name, const Expr &index, const Expr &value) {
        const Expr added = added_to(name, index, value);
        const Mul *product = added.defined() ? added.as<Mul>() : nullptr;
        if (added.defined() && !product && !expr_uses_var(added, loops.row)) {
            nest.b = read_operand(added, loops.column);
            return;
        }
        loops.require(product, "does not add a product");
        const bool a_first = expr_uses_var(product->a, loops.row);
        nest.a = read_operand(a_first ? product->a : product->b, loops.row);
        nest.b = read_operand(a_first ? product->b : product->a, loops.column);
    }

    /// The bf16 number that `operand` is, as a byte offset into a buffer.
    Expr bf16_address(const Expr &operand, std::string &buffer) const {
        const Reinterpret *bits = operand.as<Reinterpret>();
        FindLoads found;
        operand.accept(&found);
        loops.require(bits && bits->value.type() == UInt(32) && found.loads.size() == 1,
                      "has an operand that is no bf16");
        const Load *load = found.loads[0];
        loops.require(buffer.empty() || buffer == load->name, "has an operand in two buffers");
        buffer = load->name;
        const auto value_of = [&](uint32_t stored) {
            const Expr constant = make_const(UInt(load->type.bits()), stored);
            return as_const_uint(simplify(SubstituteBits(load, constant).mutate(bits->value)));
        };
        const int bytes = load->type.bytes();
        const uint32_t low = 0x3f81, high = bytes == 4 ? 0x4012 : 0;
        const auto value = value_of(high << 16 | low);
        loops.require(value && (*value == low << 16 || (bytes == 4 && *value == high << 16)),
                      "has an operand that is no bf16");
        return simplify(load->index * bytes + (*value == low << 16 ? 0 : 2));
    }

    TileInMemory read_operand(const Expr &operand, const std::string &outer) const {
        const bool is_a = outer == loops.row;
        loops.require(!expr_uses_var(operand, is_a ? loops.column : loops.row),
                      "has operands that are not of a row and of a column");
        TileInMemory tile;
        std::vector<Expr> address;
        for (int k = 0; k < tile_depth; k++)
            address.push_back(
                bf16_address(simplify(lower_intrinsics(simplify(substitute(loops.depth, k, operand)))), tile.buffer));
        tile.first = loops.at_first_turn(address[0]);
        const auto distance = [&](int k) {
            const auto bytes = as_const_int(simplify(address[k] - address[0]));
            loops.require(bytes.has_value(), "has an operand at no constant distance along the depth");
            return *bytes;
        };
        const int64_t pair_stride = distance(2);
        tile.row_stride = is_a ? loops.any_step(address[0], outer) : Expr(static_cast<int>(pair_stride));
        loops.require(is_a || loops.step(address[0], outer) == 4, "has an operand b without dense columns");
        for (int k = 0; k < tile_depth; k++)
            loops.require(distance(k) == (is_a ? 2 * k : k / 2 * pair_stride + k % 2 * 2),
                          is_a ? "has an operand a without dense rows" : "has an operand b that is not in pairs");
        return tile;
    }
};

} // namespace

TileNest read_tile_nest(const For *loop) { return Reader(loop).read(); }

} // namespace gyre
