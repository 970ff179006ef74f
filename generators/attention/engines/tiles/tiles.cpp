#include "tiles.h"

#include "attention/recurrence/blocks.h"
#include "passes/instructions/exp2_pairs.h"
#include "passes/instructions/tile_products.h"

namespace gyre::attention {
using namespace Halide;
namespace {

// A query that a product takes for 0 when it is multiplied by the power changes scores of such a scale by less than 2^-25.
constexpr float tiny_scale = 0x1p-100f, power_of_tiny_scales = 0x1p-64f;

} // namespace

// A product also takes a tile of each operand.
bool Tiles::holds_whole_head(int v_head_dim, int row_vectors) {
    return row_vectors == 1 && v_head_dim / tile_rows + 1 + 2 <= tile_registers;
}

// A row tile's scores end with the last step in which some row sees a key; bounded ones are formed a step at a time by who asks for them.
KeySteps Tiles::steps() const { return {tile_depth, bounded ? 0 : k.key_unroll}; }

Expr power_of_queries(const Expr &scale) { return select(abs(scale) < tiny_scale, power_of_tiny_scales, 1.0f); }

Expr magnitude_of(const Expr &scale) {
    const Expr magnitude = abs(scale);
    return select(scale == 0.0f, 1.0f, magnitude < tiny_scale, magnitude * (1.0f / power_of_tiny_scales), magnitude);
}

Expr Tiles::general_unit(const Inputs &in) const { return magnitude_of(in.scale); }

Expr Tiles::in_log2(const Inputs &in, const Expr &score) const {
    return in.is_general() || in.is_capped() || in.is_sloped() ? score : score * magnitude_of(in.scale);
}

void Tiles::fold(const Inputs &in) {
    if (!bounded) return RecurrenceEngine::fold(in);
    define_bound(in);
    define_changes(in);
    exact = std::make_shared<Tiles>(*this);
    exact->bounded = false;
    fold_blocks(*this, in, "blocks", s.is_bounded(s.t) + s.any_bounded() > 1);
    fold_blocks(*exact, in, "exact_blocks", s.is_bounded(s.t) < s.any_exact());
}

void Tiles::define_maximum(const Visible &visible) {
    if (bounded) return;
    mask_scores(s, visible, steps(), visible.at_edge(s.b * s.sizes.key_block, s.sizes.key_block));
    constexpr int at_once = 8;
    find_maximum(s, visible, at_once);
}

Rescaling Tiles::rescaling(const Inputs &in, const Expr &maximum, const Expr &block) const {
    if (bounded) { // as powers are
        const bool in_log2 = in.is_capped() || in.is_sloped();
        return {(exp2_pair_shift - power_raise(in)) / (in_log2 ? Expr(1.0f) : magnitude_of(in.scale)), 1.0f, 1.0f};
    }
    return RecurrenceEngine::rescaling(in, maximum, block);
}

void Tiles::mend_results(const Inputs &in) {
    if (!provider->is_finite()) define_marks(in);
}

Engine::Precision Tiles::precision() const {
    if (facts.terms == 1) return {"bf16", "", 1};
    if (facts.terms == 2) return {"bf16x2", "", 2}; // the sum of two bf16 numbers
    return {"", "", 3};                             // three hold f32
}

} // namespace gyre::attention
