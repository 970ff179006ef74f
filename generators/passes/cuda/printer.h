/// A nest of GPU loops as a __global__ function in CUDA C++.
///
/// Every block and thread loop becomes an index. A vector is an array of one thread; one that lies densely in device memory
/// moves by gyre_load and gyre_store, in 16-byte accesses where its address allows. Shared memory is read and written element
/// by element. Scalars are printed as Halide's own C back end does. What the text calls is defined by gyre_device.h, once for nvcc and once for the tests' emulation.
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

    /// Appends the function. `threads`: of a block, at most; 0: not known. `blocks`: at once on a multiprocessor; 0: any.
    void print_kernel(const Halide::Internal::For *nest, const std::string &entry,
                      const std::vector<KernelArgument> &arguments, int threads, int blocks = 0);

    /// How functions that follow count their blocks along x and y: see Lowering.
    void order_blocks(bool from_last, const Halide::Expr &across) {
        last_first = from_last;
        across_first = across;
    }

    /// Buffers of device memory of which 16 bytes that are read at once are so aligned; of others that is asked.
    void take_as_aligned(const std::set<std::string> &buffers) { aligned = buffers; }

    std::string text() const { return written.str(); }

    /// Bytes of shared memory that the function printed last uses.
    int shared_bytes() const { return shared_end; }

protected:
    using CodeGen_GPU_C::visit;
    using Stmt = Halide::Internal::Stmt;

    std::string print_type(Halide::Type type, AppendSpaceIfNeeded space = DoNotAppendSpace) override;
    void visit(const Halide::Internal::FloatImm *op) override;
    void visit(const Halide::Internal::Cast *op) override;
    void visit(const Halide::Internal::Min *op) override;
    void visit(const Halide::Internal::Max *op) override;
    void visit(const Halide::Internal::Load *op) override;
    void visit(const Halide::Internal::Call *op) override;
    void visit(const Halide::Internal::Evaluate *op) override;
    void visit(const Halide::Internal::VectorReduce *op) override;
    void visit(const Halide::Internal::LetStmt *op) override;
    void visit(const Halide::Internal::Store *op) override;
    void visit(const Halide::Internal::Allocate *op) override;
    void visit(const Halide::Internal::Free *op) override;
    void visit(const Halide::Internal::For *op) override;

    /// Stops the build: what cannot be mapped, and in which loop.
    [[noreturn]] void refuse(const std::string &what) const;

    std::string fresh(const char *prefix) { return prefix + std::to_string(names++); }

    std::vector<std::string> loops; // that are open
    std::set<std::string> arrays;   // of a thread
    std::set<std::string> shared;   // arrays of a block
    std::set<std::string> aligned;  // buffers of device memory
    bool synchronises = false;

    /// Where arrays of shared memory begin, in bytes.
    void align_shared_to(int bytes) { shared_alignment = bytes; }

    /// The body of the function, once its head is printed.
    virtual void print_body(const Stmt &nest) { print_stmt(nest); }

private:
    bool last_first = false;
    Halide::Expr across_first;
    int shared_end = 0, shared_alignment = 16;
    int names = 0;

    std::string print_block(char axis);
    void declare_shared(const Halide::Internal::Allocate *op);
    std::string print_guards(const Halide::Expr &predicate);
    Halide::Expr load_shared_vector(const Halide::Internal::Load *op, const Halide::Expr &first);
    Halide::Expr load_vectors(const Halide::Expr &e);
    std::vector<std::string> print_lanes(const Halide::Expr &vector);
    void print_store(const std::string &name, const std::string &index, const std::string &value);
    void store_vector(const Halide::Internal::Store *op);
};

} // namespace gyre::cuda
