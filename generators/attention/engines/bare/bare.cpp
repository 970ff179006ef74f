#include "bare.h"

#include "attention/recurrence/blocks.h"
#include "math/transcendental.h"

namespace gyre::attention {
using namespace Halide;

int Bare::feature_chunk(int v_head_dim, int lanes, bool converted) {
    int chunk = converted || lanes == 1 ? 8 : 16;
    while (v_head_dim % (chunk * lanes) != 0) chunk /= 2;
    return chunk;
}

Expr Bare::query_factor(const Inputs &in) const { return facts.integer_scores ? Expr() : in.scale; }

void Bare::define_queries(const Inputs &) {
    if (facts.integer_scores) define_integer_queries();
}

void Bare::define_scores(const Inputs &in) {
    if (facts.integer_scores) return define_integer_scores(in.scale);
    define_folded_scores(s, k.fold, 1, [&](const Expr &n) { return s.q_rows(n * k.fold + s.f, s.r, s.t); });
}

void Bare::define_maximum(const Visible &visible) {
    const Expr first_key = s.b * s.sizes.key_block, last_key = first_key + (s.sizes.key_block - 1);
    // Where loops end with the last key that some row sees, the few rows often see the same keys.
    mask_scores(s, visible, steps(), visible.is_cut(first_key, min(last_key, visible.tile_last)));
    find_maximum(s, visible, 1);
}

Expr Bare::power(const Expr &difference) const {
    return facts.nan_without_sign ? exp2_nonpositive_by_bits(difference) : exp2_nonpositive(difference);
}

} // namespace gyre::attention
