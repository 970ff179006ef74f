// Binds signature, algorithm and schedule of keys and values in the form of tiles. No arithmetic and no loop order here.
#include "../../common/declared_arguments.h"
#include "../../common/facts.h"
#include "../../passes/instructions/bf16_roundings.h"
#include "../../passes/instructions/tile_products.h"
#include "operands_schedules.h"

namespace gyre::operands {

class OperandsGenerator : public Halide::Generator<OperandsGenerator> {
public:
    // Variant: spelled in the kernel's name.
    GeneratorParam<int> head_dim{"head_dim", 64, 32, 512};
    GeneratorParam<Halide::Type> dtype{"dtype", Halide::BFloat(16)};

    // Where to write what the runtime must know of the kernel; "": nowhere.
    GeneratorParam<std::string> facts{"facts", ""};

    DeclaredArguments arguments;
#include "operands_arguments.inc"

    void configure() { arguments.declare(*this, {}, {{"dtype", dtype}}); }

    void generate() {
        _halide_user_assert(head_dim % tile_depth == 0)
            << "head_dim is " << head_dim.value() << ", expected a multiple of " << tile_depth << "\n";
        Inputs in;
        in.k = {k, k.dim(1).extent(), k_slot_stride, k_page_stride};
        in.v = {v, v.dim(1).extent(), v_slot_stride, v_page_stride};
        in.pages = {pages, pages.dim(0).extent(), page_bits, first_slot};
        in.keys = keys;
        in.k_rotation = {k_cos, k_sin, k_half, k_interleaved, +1};
        in.v_rotation = {v_cos, v_sin, v_half, v_interleaved, +1};
        for (auto *tensor : {&k, &v}) {
            tensor->dim(0).set_bounds(0, head_dim);
            tensor->dim(1).set_min(0).set_stride(1);
        }
        pages.dim(0).set_min(0);
        for (auto *table : {&k_cos, &k_sin, &v_cos, &v_sin}) {
            table->dim(0).set_min(0);
            table->dim(1).set_min(0);
        }
        const Halide::Expr blocks = key_squares.dim(1).extent();
        k_rows.dim(0).set_bounds(0, head_dim);
        k_rows.dim(1).set_bounds(0, blocks * tile_depth);
        v_blocks.dim(1).set_min(0).set_stride(tile_depth / 2);
        v_blocks.dim(2).set_bounds(0, blocks);
        key_squares.dim(1).set_min(0);
        const int lanes = natural_vector_size<float>();
        marks.dim(0).set_bounds(0, lanes);
        Stages stages = algorithm(in, head_dim, lanes, k_rows, v_blocks, key_squares, marks, blocks);
        schedule_cpu(stages, head_dim, lanes);
        map_bf16_roundings(*this);
        publish_facts(*this, facts, {{"key_stride", head_dim + cache_line_bf16}, {"block", tile_depth}});
    }

private:
    static constexpr int cache_line_bf16 = 32; // rows a line longer do not share the sets of the L1 cache
};

} // namespace gyre::operands

HALIDE_REGISTER_GENERATOR(gyre::operands::OperandsGenerator, operands)
