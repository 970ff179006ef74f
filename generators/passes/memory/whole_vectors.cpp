#include "whole_vectors.h"

#include <algorithm>
#include <vector>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;
namespace {

class ReadElements : public IRMutator {
public:
    ReadElements(const std::set<std::string> &small, const std::set<std::string> &transposed)
        : small(small), transposed(transposed) {}

private:
    using IRMutator::visit;
    const std::set<std::string> &small, &transposed;
    std::vector<std::pair<std::string, Expr>> lets;

    Expr visit(const Load *op) override {
        const Ramp *ramp = op->index.as<Ramp>();
        const bool sparse = !op->index.type().is_scalar() && !(ramp && is_const_one(ramp->stride));
        if (sparse && small.count(op->name)) return read(op, Expr(0));
        if (sparse && ramp && transposed.count(op->name)) {
            const ModulusRemainder known = modulus_remainder(with_lets(ramp->base));
            _halide_user_assert(known.modulus % vector_of(op->type) == 0)
                << op->name << " is read at an unknown place of its vectors: " << ramp->base;
            return read(op, ramp->base - static_cast<int>(known.remainder % vector_of(op->type)));
        }
        return IRMutator::visit(op);
    }

    static int vector_of(const Type &type) { return 16 / type.bytes(); } // elements of a register

    /// Reads from vectors at `base` and behind it, which are where they are known to be.
    Expr read(const Load *op, const Expr &base) const {
        const Expr index = with_lets(op->index), from = with_lets(base);
        const int lanes = vector_of(op->type);
        std::vector<int> first; // of each vector
        std::vector<int> indices;
        for (int lane = 0; lane < op->type.lanes(); lane++) {
            const Expr place = lower_intrinsics(Shuffle::make_extract_element(index, lane)) - lower_intrinsics(from);
            const auto known = as_const_int(simplify(place));
            _halide_user_assert(known) << op->name << " is read at an unknown place: " << index;
            const int within = static_cast<int>(*known) % lanes, vector = static_cast<int>(*known) - within;
            const auto found = std::find(first.begin(), first.end(), vector);
            indices.push_back(static_cast<int>(found - first.begin()) * lanes + within);
            if (found == first.end()) first.push_back(vector);
        }
        std::vector<Expr> vectors;
        for (int place : first)
            vectors.push_back(Load::make(op->type.with_lanes(lanes), op->name,
                                         Ramp::make(simplify(base + place), 1, lanes), op->image, op->param,
                                         const_true(lanes), ModulusRemainder(lanes, 0)));
        const int count = static_cast<int>(vectors.size()), column = indices[0];
        bool same_column = count == op->type.lanes() && column < lanes;
        for (int n = 0; n < count && same_column; n++) same_column = indices[n] == n * lanes + column;
        // All columns together are one interleaving, which their reads share.
        if (same_column) return Shuffle::make_slice(Shuffle::make_interleave(vectors), column * count, 1, count);
        return Shuffle::make(vectors, indices);
    }

    Expr with_lets(Expr index) const {
        for (auto let = lets.rbegin(); let != lets.rend(); ++let) index = substitute(let->first, let->second, index);
        return index;
    }
    Expr visit(const Let *op) override {
        const Expr value = mutate(op->value);
        lets.emplace_back(op->name, value);
        const Expr body = mutate(op->body);
        lets.pop_back();
        return Let::make(op->name, value, body);
    }
    Stmt visit(const LetStmt *op) override {
        const Expr value = mutate(op->value);
        lets.emplace_back(op->name, value);
        const Stmt body = mutate(op->body);
        lets.pop_back();
        return LetStmt::make(op->name, value, body);
    }
};

} // namespace

Stmt read_whole_vectors(const Stmt &body, const std::set<std::string> &small, const std::set<std::string> &transposed) {
    return ReadElements(small, transposed).mutate(body);
}

} // namespace gyre
