#include "bf16_matrices.h"

#include "../loop_name.h"
#include "../memory/whole_vectors.h"
#include "nest_index.h"

#include <set>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

class FindLoad : public IRVisitor {
public:
    const Load *found = nullptr;

private:
    using IRVisitor::visit;
    void visit(const Load *op) override { found = op; }
};

/// A nest of a lane's and a depth's loop as the instruction that it is.
class ReadMatrices {
public:
    explicit ReadMatrices(const For *outermost) : outermost(outermost) {
        Stmt s = outermost;
        for (const char *name : {matrix_lane_loop, matrix_depth_loop}) {
            const For *loop = s.as<For>();
            require(loop && variable_of_loop(loop->name) == name && is_const_zero(loop->min) &&
                        is_const(loop->extent, name == matrix_lane_loop ? matrix_lanes : matrix_depth),
                    "is not one of 4 lanes and 4 numbers");
            (name == matrix_lane_loop ? lane : depth) = loop->name;
            s = loop->body;
            while (const LetStmt *let = s.as<LetStmt>()) s = substitute(let->name, let->value, let->body);
        }
        innermost = s;
        store = s.as<Store>();
        require(store && is_const_one(store->predicate), "does not come down to one store");
    }

    Stmt instruction() const {
        const Expr added = added_to(store->name, store->index, store->value);
        const Mul *product = added.defined() ? added.as<Mul>() : nullptr;
        require(product, "does not add a product to what it stores");
        for (int l = 0; l < matrix_lanes; l++)
            require(distance(store->index, l, 0) == l, "has lanes that are not dense");
        Expr a = matrix(product->a, true), b = matrix(product->b, false);
        if (!a.defined() || !b.defined()) {
            a = matrix(product->b, true);
            b = matrix(product->a, false);
        }
        require(a.defined() && b.defined(), "has an operand that is not two rows of 4 bf16 numbers");
        const Type integers = Int(32, matrix_lanes), numbers = Float(32, matrix_lanes);
        const Expr place = Ramp::make(at(store->index, 0, 0), 1, matrix_lanes), all = const_true(matrix_lanes);
        const ModulusRemainder aligned(matrix_lanes, 0);
        const Expr sums = Load::make(numbers, store->name, place, {}, {}, all, aligned);
        const Expr result = Call::make(integers, "dot_product", {reinterpret(integers, sums), a, b}, Call::PureExtern);
        return Store::make(store->name, reinterpret(numbers, result), place, Parameter(), all, aligned);
    }

    const std::string &accumulator() const { return store->name; }

private:
    const For *const outermost;
    std::string lane, depth;
    Stmt innermost;
    const Store *store = nullptr;

    void require(bool condition, const char *what) const {
        _halide_user_assert(condition) << "product of bf16 matrices " << what << ":\n" << Stmt(outermost);
    }

    Expr at(const Expr &index, int l, int n) const {
        return simplify(lower_intrinsics(substitute(depth, n, substitute(lane, l, index))));
    }
    int64_t distance(const Expr &index, int l, int n) const {
        return as_const_int(simplify(at(index, l, n) - at(index, 0, 0))).value_or(-1);
    }

    /// The matrix that `number` is the f32 value of an element of, as bytes; undefined if it is not: of lane l and depth n,
    /// element 4 (l / 2) + n of the first operand and 4 (l % 2) + n of the second.
    Expr matrix(const Expr &number, bool first) const {
        FindLoad find;
        number.accept(&find);
        const Load *load = find.found;
        if (!load || load->type != UInt(16)) return {};
        const Expr bits = Variable::make(load->type, "bits");
        const auto simple = [](const Expr &e) { return simplify(lower_intrinsics(e)); };
        if (!equal(simple(substitute(Expr(load), bits, number)),
                   simple(reinterpret<float>(cast<uint32_t>(bits) << 16))))
            return {};
        for (int l = 0; l < matrix_lanes; l++)
            for (int n = 0; n < matrix_depth; n++)
                if (distance(load->index, l, n) != (first ? l / matrix_rows : l % matrix_rows) * matrix_depth + n)
                    return {};
        constexpr int elements = matrix_rows * matrix_depth;
        const Expr place = Ramp::make(at(load->index, 0, 0), 1, elements);
        return reinterpret(Int(8, 2 * elements), Load::make(UInt(16, elements), load->name, place, load->image,
                                                            load->param, const_true(elements), ModulusRemainder()));
    }
};

class MapMatrices : public IRMutator {
public:
    using IRMutator::mutate;

    explicit MapMatrices(const std::vector<Func> &transposed) : transposed(names(transposed)) {}

    Stmt mutate(const Stmt &s) override {
        if (depth > 0) return IRMutator::mutate(s);
        depth++;
        const Stmt mapped = IRMutator::mutate(s);
        depth--;
        return read_whole_vectors(mapped, accumulators, transposed);
    }

private:
    using IRMutator::visit;
    const std::set<std::string> transposed;
    std::set<std::string> accumulators;
    int depth = 0;

    static std::set<std::string> names(const std::vector<Func> &funcs) {
        std::set<std::string> names;
        for (const Func &f : funcs) names.insert(f.name());
        return names;
    }

    Stmt visit(const For *op) override {
        if (variable_of_loop(op->name) != matrix_lane_loop) return IRMutator::visit(op);
        const ReadMatrices nest(op);
        accumulators.insert(nest.accumulator());
        return nest.instruction();
    }
};

} // namespace

bool has_bf16_matrices(const Target &target) {
    return target.arch == Target::ARM && target.bits == 64 && target.has_feature(Target::ARMDotProd);
}

void map_bf16_matrices(GeneratorBase &generator, const std::vector<Func> &transposed) {
    generator.get_pipeline().add_custom_lowering_pass(new MapMatrices(transposed));
}

} // namespace gyre
