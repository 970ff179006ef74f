/// Both products on tiles of 16 rows of a warp, on CUDA: tensor cores, or multiply-adds in f32. A launch takes whole tensors, and queries
/// are rows of tiles, so the algorithm is this engine's own (algorithm.h), and keys and values have no provider.
#pragma once
#include "algorithm.h"
#include "attention/engines/engine.h"

namespace gyre::attention {

/// 0: what suits the kernel.
struct MmaKnobs {
    int warps = 0;     // of a block of threads
    int row_tiles = 0; // of a warp, 16 queries each: one load of keys or values is of use to all of them
    int key_block = 0; // keys of a block
    int stages = 2;    // blocks of keys and values that shared memory holds, one of which is computed with
    int copying = -1;  // warps that only copy; -1: what suits the kernel
    int blocks = 0;    // of threads, that a multiprocessor's registers have room for
};

class Mma : public Engine {
public:
    /// Which kernel it is. Each is a GeneratorParam of the same name.
    struct Facts {
        int head_dim;
        Halide::Type dtype;
        bool general, paged, partial;
        bool warpgroups;         // products are those of four warps together, by wgmma
        std::string device_code; // where to write the CUDA C++
    };
    Mma(Facts facts, const MmaKnobs &knobs);

    /// Defines `out` and `lse`, and the stages, from the call's arguments.
    void define(const CudaInputs &in, const Halide::Func &out, const Halide::Func &lse);
    void schedule() override;
    void lower(const Lowering &lowering) const override;
    Tiling tiling() const override;
    Precision precision() const override;

    int most_pairs() const { return facts.head_dim / 2; } // of features that are rotated

private:
    const Facts facts;
    const MmaKnobs k;
    CudaStages s;
    Halide::Expr causal; // whether what rows see ends with them

    bool in_f32() const { return facts.dtype == Halide::Float(32); }
    bool is_plain() const { return !facts.general && !facts.partial && !facts.paged; }
    CudaSizes choose_sizes() const;
    CudaSizes choose_sizes_of_warpgroups() const;

    int row_tiles() const { return s.sizes.query_rows / cuda::tile_rows / s.sizes.warps; } // of a warp
    int copied_elements() const {
        return cuda::copied_bytes / s.sizes.bytes;
    } // at once; also what rows in shared memory are padded by
    int features_of(const Halide::Func &f) const;
    std::vector<Halide::Func> of_queries() const; // what is in shared memory
    std::vector<Halide::Func> of_keys() const;
    Halide::LoopLevel block_of_threads() const;

    void schedule_results();
    void bound_extents();
    void schedule_rows();
    void schedule_queries();
    void schedule_state();
    void schedule_scores();
    void schedule_keys(Halide::Func f);
};

} // namespace gyre::attention
