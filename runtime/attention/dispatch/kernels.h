/// The attention kernels that are linked, and what each is made for.
#pragma once
#include "attention/call/call.h"
#include "attention/call/score_inputs.h"
#include "core/argument_row.h"
#include "core/kernel_list.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

namespace gyre {

/// What kernels are made for beside types and sizes: a family has the same of them all. generators/families.json explains them.
namespace trait {
#define GYRE_FAMILY(begin, calls, traits)
enum Place : unsigned {
#define GYRE_TRAIT(name) place_of_##name,
#include "gyre_families.inc"
#undef GYRE_TRAIT
};
enum Trait : unsigned {
#define GYRE_TRAIT(name) name = 1u << place_of_##name,
#include "gyre_families.inc"
#undef GYRE_TRAIT
};
#undef GYRE_FAMILY
} // namespace trait

struct AttentionKernel {
    const Kernel *kernel = nullptr;
    gyre_dtype dtype = GYRE_F32;
    unsigned traits = 0;          // of trait
    bool padded = false;          // serves every head size up to head_dim
    bool bounded = false;         // computes small scores apart, for which it asks how much longer rotation makes keys
    bool rounds_operands = false; // to bf16, also what is rotated
    int64_t terms = 0;            // bf16 numbers that a factor is multiplied as; 0: factors are f32 numbers
    bool on_tiles = false;
    int64_t vector_bytes = 0; // of its target's vectors, on x86; elsewhere 0
    int64_t head_dim = 0;
    int64_t least_head_dim = 0;          // of padded ones
    int64_t row_tile = 0, task_rows = 0; // rows of a task: at most task_rows, a multiple of row_tile
    /// Its row tiles are told how many vectors of so many rows they have; 0: they have row_tile rows.
    int64_t tile_lanes = 0;
    int64_t key_block = 0;
    size_t workspace = 0;   // bytes
    std::string_view score; // its score function's name; empty: none
    ScoreInputs score_inputs;
    ArgumentPlaces places; // of AttentionArguments, or of a device's

    bool is(unsigned trait) const { return traits & trait; }
    bool has_terms() const { return terms > 1; }
    bool has_bf16_dots() const { return terms == 1 && !on_tiles && !kernel->image; }
    /// Tokens that fill whole row tiles with so many heads of each. Tasks take multiples, so that which rows make up a tile
    /// does not depend on the number of threads.
    int64_t token_unit(int64_t heads) const { return row_tile / std::gcd(row_tile, heads); }
};

constexpr int64_t avx2_bytes = 32, avx512_bytes = 64; // of a vector

bool has_matrix_tiles(const Target &target);
/// Tells a call what its sequences follow from beside its arguments. Whoever looks at them has called it.
void take_target(const gyre_context &context, AttentionCall *call);

/// Those that the context's call knows of one family, by its row among the rules of dispatch; best target first.
TableRows<AttentionKernel> attention_kernels(const gyre_context &context, size_t family);

/// The names of the score functions of all kernels that calls with this context and tensors on `device` may use, in order.
std::vector<std::string_view> usable_scores(const gyre_context &context, gyre_device device = GYRE_CPU);

/// Refuses a score that is none of these.
gyre_status refuse_score(const char *score, const std::vector<std::string_view> &usable);

} // namespace gyre
