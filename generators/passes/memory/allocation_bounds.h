/// What passes over a kernel's allocations know of their sizes.
#pragma once
#include <Halide.h>

#include <string>

namespace gyre {

/// Follows a lowered pipeline and the bounds of the integers that it names.
class AllocationBounds : public Halide::Internal::IRMutator {
protected:
    using IRMutator::mutate;
    using IRMutator::visit;

    Halide::Internal::Stmt visit(const Halide::Internal::LetStmt *op) override;
    Halide::Expr visit(const Halide::Internal::Let *op) override;

    /// The most bytes that an allocation can take. Without a constant bound the build stops with the allocation's name.
    int64_t most_bytes(const Halide::Internal::Allocate *op) const;

private:
    Halide::Internal::Scope<Halide::Internal::Interval> scope;

    template <typename Body>
    auto bound(const std::string &name, const Halide::Expr &value, Body &&body) -> decltype(body());
};

} // namespace gyre
