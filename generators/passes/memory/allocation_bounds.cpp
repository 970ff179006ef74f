#include "allocation_bounds.h"

#include <algorithm>

namespace gyre {
using namespace Halide;
using namespace Halide::Internal;

template <typename Body>
auto AllocationBounds::bound(const std::string &name, const Expr &value, Body &&body) -> decltype(body()) {
    if (value.type() != Int(32)) return body();
    ScopedBinding<Interval> bind(scope, name, find_constant_bounds(value, scope));
    return body();
}

Stmt AllocationBounds::visit(const LetStmt *op) {
    return bound(op->name, op->value, [&] { return IRMutator::visit(op); });
}
Expr AllocationBounds::visit(const Let *op) {
    return bound(op->name, op->value, [&] { return IRMutator::visit(op); });
}

int64_t AllocationBounds::most_bytes(const Allocate *op) const {
    int64_t elements = 1;
    for (const Expr &extent : op->extents) {
        const Expr most = find_constant_bound(extent, Direction::Upper, scope);
        const auto value = most.defined() ? as_const_int(most) : std::nullopt;
        _halide_user_assert(value) << "allocation " << op->name << " has no constant bound: extent " << extent << "\n";
        elements *= std::max<int64_t>(*value, 1);
    }
    return elements * op->type.bytes();
}

} // namespace gyre
