/// What every engine of attention has: loops and passes for one kind of machine, and what the runtime must know of the kernel.
/// Engines that the recurrence over blocks of keys asks for their products have more (recurrence_engine.h); engines.cpp says which
/// kernel has which of these. Kernels for CUDA have the engine mma/, whose lanes lie along rows: it has an algorithm of its own.
#pragma once
#include "common/facts.h"

#include <Halide.h>

#include <string>

namespace gyre::attention {

/// What passes over the lowered kernel may need.
struct Lowering {
    Halide::Internal::GeneratorBase &generator;
    Halide::OutputImageParam keys, values; // the tensors
    Halide::Expr key_stride, value_stride; // elements from row to row of a page
    Halide::Expr key_count{}, rows{};      // of a task
    Halide::Expr zero{};                   // an argument that is always 0; undefined: there is none
};

class Engine {
public:
    virtual ~Engine() = default;

    // HOW: loops, vectors, storage; and the passes that this counts on. Refuses knobs that do not fit.
    virtual void schedule() = 0;
    virtual void lower(const Lowering &) const {}

    // What the runtime and tests must know.
    struct Tiling {
        int task_rows,
            row_tile;  // rows of queries that a task, or block of threads, takes; and of a tile of its products
        int key_block; // keys whose scores exist at once
    };
    virtual Tiling tiling() const = 0;

    struct Precision {
        /// What weights and rotated operands are rounded to before they are multiplied; "": they stay f32.
        std::string operands;
        /// What weights are rounded to before they are summed; "": they are not.
        std::string sum;
        /// How many bf16 numbers a factor is multiplied as, by instructions that take subnormal numbers for 0; 0: products are in f32.
        int terms = 0;
    };
    virtual Precision precision() const { return {}; }
};

/// Tiling and precision, as the runtime reads them.
Facts facts_of(const Engine &engine);

} // namespace gyre::attention
