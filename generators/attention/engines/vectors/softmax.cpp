#include "softmax.h"

#include "attention/recurrence/scores.h"
#include "attention/variants/dropout/kept.h"
#include "math/transcendental.h"

namespace gyre::attention {
using namespace Halide;
namespace {

/// Defines weights for all keys of a block, or, with `step` keys a group, for the groups in which some row sees a key; `from_first`:
/// not for those before them.
void define_softmax_weights(SoftmaxStages &s, const Visible &visible, int step, bool from_first, const Power &power) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b;
    const Func &scales = s.operands.key_scales;
    s.weights = Func("weights");
    const auto weights_of = [&](const Expr &key) -> std::vector<Expr> {
        const Expr weight = power(s.masked(r, key, t, b) - s.block_max(r, t, b));
        if (!scales.defined()) return {weight};
        const Expr of_value = weight * scales(key, t, b)[1]; // a masked key's scale may hold anything
        return {weight, select(is_masked(s.masked(r, key, t, b)), 0.0f, of_value)};
    };
    if (step == 0) {
        s.weights(r, j, t, b) = Tuple(weights_of(j));
        return;
    }
    RDom formed(0, step, 0, z.key_block / step, "weighed");
    const Expr first_key = b * z.key_block + formed.y * step;
    formed.where(from_first ? visible.in_sight(first_key, step) : first_key <= visible.tile_last);
    const std::vector<Expr> weights = weights_of(formed.y * step + formed.x);
    s.weights(r, j, t, b) = Tuple(std::vector<Expr>(weights.size(), undef<float>()));
    s.weights(r, formed.y * step + formed.x, t, b) = Tuple(weights);
    s.weight_j = formed.x;
    s.weight_step = formed.y;
}

} // namespace

void SoftmaxEngine::define_weighted_values(const Inputs &in, const Visible &visible) {
    SoftmaxStages &s = stages();
    from_first = weighs_from_first() && !in.drops(); // words are drawn for whole groups of keys
    define_softmax_weights(s, visible, weight_step(), from_first,
                           [&](const Expr &difference) { return power(difference, in.is_general()); });
    if (in.drops()) define_kept_weights(in, visible);
    s.block_sum = Func("block_sum");
    s.weighted = Func("weighted");
    define_sum(visible);
    const int step = steps().scored > 0 ? steps().scored : s.sizes.key_block;
    if (guards_blocks())
        define_guarded(s, in, guard_vector(), step, looks_by_flag(),
                       in.is_general() ? hides_keys(in, visible) : Expr());
    define_product_of_values(in, visible);
}

Expr SoftmaxEngine::power(const Expr &difference, bool far) const {
    return far ? exp2_nonpositive_or_zero(difference) : exp2_nonpositive(difference);
}

void SoftmaxEngine::define_kept_weights(const Inputs &in, const Visible &) {
    define_kept(stages(), in, stages().weights);
}

void SoftmaxEngine::define_sum(const Visible &visible) {
    SoftmaxStages &s = stages();
    const RDom keys = keys_in_sight(visible, "sum_keys");
    s.sum_j = keys;
    s.block_sum(s.r, s.t, s.b) += sum_weight(keys);
}

RDom SoftmaxEngine::keys_in_sight(const Visible &visible, const std::string &name, int first) {
    const SoftmaxStages &s = stages();
    RDom keys(first, s.sizes.key_block - first, name);
    const Expr key = s.b * s.sizes.key_block + keys;
    if (begins_with_seen()) keys.where(key >= visible.tile_first);
    keys.where(key <= visible.tile_last);
    return keys;
}

Expr SoftmaxEngine::sum_weight(const Expr &key) {
    SoftmaxStages &s = stages();
    const FuncRef both = s.weights(s.r, key, s.t, s.b);
    return s.operands.key_scales.defined() ? Expr(both[0]) : Expr(both);
}

Expr SoftmaxEngine::value_weight(const Expr &key) {
    SoftmaxStages &s = stages();
    if (s.dropout.kept.defined()) return s.dropout.kept(s.r, key, s.t, s.b);
    const FuncRef both = s.weights(s.r, key, s.t, s.b);
    return s.operands.key_scales.defined() ? Expr(both[1]) : Expr(both);
}

void SoftmaxEngine::guard(const Func &product, const Visible &visible, const ProductPlace &place) {
    if (!guards_blocks()) return;
    define_guarded_product(
        stages(), product, visible, begins_with_seen(), place, [&](const Expr &key) { return value_weight(key); },
        sums_in_turn());
}

} // namespace gyre::attention
