/// A nest of GPU loops as a __global__ function in CUDA C++.
///
/// Every block and thread loop becomes an index. A vector is an array of one thread; one that lies densely in device memory
/// moves by gyre_load and gyre_store, in 16-byte accesses where its address allows. Scalars are printed as Halide's own C
/// back end does. What the text calls is defined by gyre_device.h, once for nvcc and once for the tests' emulation.
#pragma once
#include <Halide.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace gyre::cuda {

struct KernelArgument {
    std::string name;
    Halide::Type type;
    bool is_buffer;
    bool written;
    int by_value; // elements, of a buffer that is an argument itself; 0: device memory
};

/// What is printed into; made before the printer that is given it.
struct PrintedText {
    std::ostringstream written;
};

class Printer : private PrintedText, public Halide::Internal::CodeGen_GPU_C {
public:
    Printer();

    /// Appends the function. `threads`: of a block, at most; 0: not known.
    void print_kernel(const Halide::Internal::For *nest, const std::string &entry,
                      const std::vector<KernelArgument> &arguments, int threads);

    std::string text() const { return written.str(); }

protected:
    using CodeGen_GPU_C::visit;
    using Stmt = Halide::Internal::Stmt;

    std::string print_type(Halide::Type type, AppendSpaceIfNeeded space = DoNotAppendSpace) override;
    void visit(const Halide::Internal::FloatImm *op) override;
    void visit(const Halide::Internal::Cast *op) override;
    void visit(const Halide::Internal::Min *op) override;
    void visit(const Halide::Internal::Max *op) override;
    void visit(const Halide::Internal::Load *op) override;
    void visit(const Halide::Internal::VectorReduce *op) override;
    void visit(const Halide::Internal::LetStmt *op) override;
    void visit(const Halide::Internal::Store *op) override;
    void visit(const Halide::Internal::Allocate *op) override;
    void visit(const Halide::Internal::Free *op) override;
    void visit(const Halide::Internal::For *op) override;

    /// Stops the build: what cannot be mapped, and in which loop.
    [[noreturn]] void refuse(const std::string &what) const;

    std::string fresh(const char *prefix) { return prefix + std::to_string(names++); }

private:
    std::vector<std::string> loops; // that are open
    std::set<std::string> arrays;   // of a thread
    int names = 0;

    std::string print_guards(const Halide::Expr &predicate);
    Halide::Expr load_vectors(const Halide::Expr &e);
    std::vector<std::string> print_lanes(const Halide::Expr &vector);
    void store_vector(const Halide::Internal::Store *op);
};

} // namespace gyre::cuda
