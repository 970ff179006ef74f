/// The names whose values change in a statement.
#pragma once
#include <Halide.h>

#include <set>
#include <string>

namespace gyre {

/// Finds them: loops, what is named in them, and memory that they allocate or store into.
class ChangedNames : public Halide::Internal::IRVisitor {
public:
    std::set<std::string> names;

protected:
    using IRVisitor::visit;
    void visit(const Halide::Internal::For *op) override { changes(op); }
    void visit(const Halide::Internal::Allocate *op) override { changes(op); }
    void visit(const Halide::Internal::Store *op) override { changes(op); }
    void visit(const Halide::Internal::Let *op) override { changes(op); }
    void visit(const Halide::Internal::LetStmt *op) override { changes(op); }

private:
    template <typename Operation>
    void changes(const Operation *op) {
        names.insert(op->name);
        IRVisitor::visit(op);
    }
};

} // namespace gyre
