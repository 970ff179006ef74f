/// Kernels whose schedules give tiles of matrices to whole warps: products by mma, the rest on fragments in registers.
///
/// What a schedule does with the first lane of a warp, every lane does with its part (fragments.h): elementwise operations,
/// reductions along rows, and products of a fragment with a tile in shared memory. What is neither is an error with the
/// loop's name. Barriers and copies into shared memory are printed where a pass has placed them (barriers.h).
#pragma once
#include "copying_warps.h"
#include "fragments.h"
#include "printer.h"
#include "swizzle.h"

namespace gyre::cuda {

class WarpPrinter : public Printer {
public:
    /// Arrays whose rows' places are worked out by a lane each: see Lowering::copies_of_row.
    void share_places_of_rows(const std::map<std::string, int> &arrays) { copies_of_row = arrays; }

    /// Whether products of 16 bits are those of four warps together, by wgmma.
    void multiply_by_warpgroups(bool on) {
        by_warpgroups = on;
        if (on) align_shared_to(swizzle_alignment);
    }

    /// Which warps copy, if some do nothing else.
    void copy_by_warps(const CopyingWarps &warps) { copying = warps; }

protected:
    using Printer::visit;

    void print_body(const Stmt &nest) override;
    void visit(const Halide::Internal::Allocate *op) override;
    void visit(const Halide::Internal::Call *op) override;
    void visit(const Halide::Internal::Evaluate *op) override;
    void visit(const Halide::Internal::For *op) override;
    void visit(const Halide::Internal::IfThenElse *op) override;
    void visit(const Halide::Internal::Load *op) override;
    void visit(const Halide::Internal::Store *op) override;

private:
    std::map<std::string, int> copies_of_row;
    bool has_tiles = false;
    bool by_warpgroups = false;
    CopyingWarps copying;
    Fragments fragments;
    const WarpNest *nest = nullptr; // that is being printed
    std::string column;             // its variable that fragments are read along

    void open(const std::string &head);
    void open_if(const Halide::Expr &condition);
    void close(size_t count = 1);
    void open_loops(const std::vector<WarpLoop> &unrolled);
    void open_row_tiles();
    void close_row_tiles();
    void open_rows();
    void close_rows();

    void print_for_warp(const Stmt &s);
    void print_nest(const WarpNest &read);
    void print_staged_loop(const Halide::Internal::For *loop);
    /// False if the loop copies no rows whose places are shared; then nothing was printed.
    bool print_row_copies(const Halide::Internal::For *loop);
    void print_place(const std::string &name, const std::string &parameters, const Halide::Expr &place);
    /// False if the condition does not ask for turns of a staged loop; then nothing was printed.
    bool print_turns(const Halide::Internal::IfThenElse *op);
    bool print_ring_statement(const Halide::Internal::Call *call);
    bool print_copying_warps(const Halide::Internal::IfThenElse *op);

    std::string register_of(const std::string &array, const Halide::Expr &index);
    Halide::Expr print_row_terms(const Halide::Expr &e);
    void print_elementwise();
    void print_rescaled(const WarpNest &read, const Halide::Internal::Call &value);
    void print_stores_along_rows(const std::vector<const WarpStore *> &stores);
    void print_reduction(const WarpStore &store);
    void print_product(const WarpStore &store);
    void print_product_of_seen(const WarpStore &store, const Halide::Internal::Call &product,
                               const Halide::Expr &before);
    void print_multiply_adds(const Halide::Internal::Load *a, const Halide::Internal::Load *b, const WarpStore &store,
                             const WarpLoop &tiles);
    void print_tensor_product(const Halide::Internal::Load *a, const Halide::Internal::Load *b, const WarpStore &store,
                              const WarpLoop &tiles);
    void print_warpgroup_product(const Halide::Internal::Load *a, const Halide::Internal::Load *b,
                                 const WarpStore &store, const std::vector<WarpLoop> &of_depth, const WarpLoop &tiles);
    std::string place_of_operand(const Halide::Internal::Load *b, const SwizzledOperand &operand);
    std::string print_swizzled_values(const Halide::Internal::Load *b, const WarpLoop &tiles,
                                      const std::string &depth_loop, int rows);
    std::string print_tiles_of_a(const Halide::Internal::Load *a);
    std::string print_tiles_of_b(const Halide::Internal::Load *b);
};

} // namespace gyre::cuda
