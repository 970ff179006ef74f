#include "blocks.h"

#include "attention/variants/general/scores.h"
#include "keys_of_block.h"
#include "math/transcendental.h"
#include "passes/order/loop_branches.h"
#include "scores.h"

namespace gyre::attention {
using namespace Halide;
namespace {

Expr greatest(std::vector<Expr> values) {
    while (values.size() > 1) {
        std::vector<Expr> half;
        for (size_t i = 0; i + 1 < values.size(); i += 2) half.push_back(max(values[i], values[i + 1]));
        if (values.size() % 2) half.push_back(values.back());
        values = half;
    }
    return values[0];
}

/// The last key of the step in which some row sees one.
Expr last_taken(const KeySteps &steps, const Visible &visible) {
    return steps.together > 1 ? visible.tile_last | (steps.together - 1) : visible.tile_last;
}

/// Scores as they are until they are masked: of all keys of a block, or of as many steps of keys as some row sees.
void define_masked(Stages &s, const Visible &visible, const KeySteps &steps) {
    const int step = steps.scored;
    const Sizes &z = s.sizes;
    const Var &r = s.r, &j = s.j, &t = s.t, &b = s.b;
    s.masked = Func("masked");
    const auto score = [&](const Expr &key) -> Expr {
        const Expr stored = s.scores(r, key, t, b);
        const Func &scales = s.operands.key_scales;
        return scales.defined() ? stored * scales(key, t, b)[0] : stored;
    };
    if (step == 0) {
        s.masked(r, j, t, b) = score(j);
        return;
    }
    RDom formed(0, step, 0, z.key_block / step, "formed");
    if (steps.of_task) formed.where(b * z.key_block + formed.y * step < visible.keys);
    if (steps.from_first) // of a window's first block no more than its edge, which is masked
        formed.where(b * z.key_block + formed.y * step + (step - 1) >= visible.tile_first);
    formed.where(b * z.key_block + formed.y * step <= visible.tile_last);
    const Expr place = formed.y * step + formed.x, key = steps.key_of_place ? steps.key_of_place(place) : place;
    s.masked(r, j, t, b) = undef<float>();
    s.masked(r, key, t, b) = score(place);
    s.formed_j = formed.x;
    s.key_step = formed.y;
}

/// What a block adds to the sums of a row of the state.
struct BlockSums {
    std::vector<Expr> weighted; // values
    Expr weights;
};
BlockSums sums_of_block(RecurrenceEngine &engine) {
    const Stages &s = engine.stages();
    BlockSums sums{{}, s.block_sum(s.r, s.t, s.block)};
    for (int c = 0; c < s.sizes.feature_chunk; c++)
        sums.weighted.push_back(s.weighted(s.r, engine.layout().feature(s.sizes, c, s.e), s.t, s.block));
    return sums;
}

/// A row of the state after one more block.
std::vector<Expr> fold_block(RecurrenceEngine &engine, const Inputs &in, const BlockSums &sums) {
    const Stages &s = engine.stages();
    const int chunk = s.sizes.feature_chunk;
    const FuncRef old = s.state(s.r, s.t, s.e);
    const Rescaling rescaling = engine.rescaling(in, old[chunk], s.block);
    std::vector<Expr> row;
    for (int c = 0; c < chunk; c++) row.push_back(old[c] * rescaling.keep + sums.weighted[c] * rescaling.add);
    row.push_back(rescaling.maximum);
    row.push_back(old[chunk + 1] * rescaling.keep + sums.weights * rescaling.add);
    return row;
}

/// A row of the state after its first block, which sets it: of engines that begin with a block.
std::vector<Expr> begin_with_block(RecurrenceEngine &engine, const Inputs &in, const BlockSums &sums) {
    const Stages &s = engine.stages();
    std::vector<Expr> row = sums.weighted;
    row.push_back(s.block_max.defined() ? Expr(s.block_max(s.r, s.t, s.block))
                                        : engine.rescaling(in, least_score, s.block).maximum);
    row.push_back(sums.weights);
    return row;
}

} // namespace

void mask_scores(Stages &s, const Visible &visible, const KeySteps &steps, const Expr &where, const Expr &from) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b;
    KeysOfBlock edge(z.key_block, steps.in_vector, "edge");
    const Expr key = b * z.key_block + edge.key;
    edge.dom.where(b * z.key_block + edge.first <=
                   last_taken(steps, visible)); // those that no row sees are masked as well
    edge.dom.where(where);
    if (from.defined()) edge.dom.where(edge.first >= from);
    s.mask_j = edge.lane;
    s.masked(r, edge.key, t, b) = select(visible.sees(key), s.masked(r, edge.key, t, b), masked_score);
}

void find_maximum(Stages &s, const Visible &visible, int at_once) {
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &b = s.b;
    RDom keys(0, z.key_block / at_once, "max_keys");
    keys.where(b * z.key_block + keys * at_once <= visible.tile_last);
    s.max_j = keys;
    s.block_max = Func("block_max");
    s.block_max(r, t, b) = least_score;
    std::vector<Expr> candidates;
    for (int n = 0; n < at_once; n++) candidates.push_back(s.masked(r, keys * at_once + n, t, b));
    s.block_max(r, t, b) = max(s.block_max(r, t, b), greatest(candidates));
}

void fold_blocks(RecurrenceEngine &engine, const Inputs &in, const std::string &name, const Expr &taken) {
    Stages &s = engine.stages();
    const Sizes &z = s.sizes;
    const Var &r = s.r, &t = s.t, &e = s.e;
    const Visible visible = engine.visible(in);
    engine.provider->define(s, in, engine.operand_form());
    engine.define_operands(in);
    engine.define_scores(in);
    const KeySteps steps = engine.steps();
    define_masked(s, visible, steps);
    if (in.is_general())
        define_general_scores(s, in, visible.tile_last, steps.in_vector, engine.general_unit(in),
                              engine.takes_bias_in_pairs());
    else if (in.is_capped() && !engine.changes_scores())
        cap_scores(s, in.softcap, visible.tile_last, steps.capped > 0 ? steps.capped : steps.in_vector,
                   engine.general_unit(in));
    else if (in.is_sloped() && !engine.changes_scores())
        slope_scores(s, in, visible.tile_last, engine.general_unit(in));
    engine.define_maximum(visible);
    engine.define_weighted_values(in, visible);

    RDom blocks(0, (in.keys + z.key_block - 1) / z.key_block, name);
    // A promise, so that Halide does not narrow the range of blocks with conditions that it cannot simplify again.
    const Expr block_key = unsafe_promise_clamped(blocks * z.key_block, 0, in.keys - 1);
    blocks.where(taken);
    blocks.where(block_key <= visible.tile_last && block_key + z.key_block - 1 >= visible.tile_first);
    s.block = blocks;
    const BlockSums sums = sums_of_block(engine);
    std::vector<Expr> next = fold_block(engine, in, sums);
    if (engine.begins_with_block()) {
        const Expr is_tile_first = blocks == visible.tile_first / z.key_block;
        const Expr is_first = engine.begins_behind_branch() ? branch(is_tile_first) : is_tile_first;
        const std::vector<Expr> begun = begin_with_block(engine, in, sums);
        for (size_t i = 0; i < next.size(); i++) next[i] = select(is_first, begun[i], next[i]);
    }
    s.state(r, t, e) = Tuple(next);
}

void clear_unseeing_tiles(Stages &s, const Inputs &in, std::vector<Expr> nothing) {
    const Visible visible = visible_keys(in, s);
    RDom cleared(0, 1, "cleared_tiles");
    s.cleared_turn = cleared;
    cleared.where(visible.tile_first / s.sizes.key_block * s.sizes.key_block > visible.tile_last);
    nothing[0] = nothing[0] + cast<float>(cleared); // 0, so that the update has the condition
    s.state(s.r, s.t, s.e) = Tuple(nothing);
}

Engine::Tiling RecurrenceEngine::tiling() const {
    const Sizes &z = shared().sizes;
    return {z.row_tile * z.task_tiles, z.row_tile, z.key_block};
}

void RecurrenceEngine::fold(const Inputs &in) { fold_blocks(*this, in, "blocks", Internal::const_true()); }

void RecurrenceEngine::define_maximum(const Visible &visible) {
    Stages &s = stages();
    mask_scores(s, visible, steps(), visible.at_edge(s.b * s.sizes.key_block, s.sizes.key_block));
    find_maximum(s, visible, keys_of_maximum());
}

Rescaling RecurrenceEngine::rescaling(const Inputs &in, const Expr &maximum, const Expr &block) const {
    const Stages &s = shared();
    return layout().rescaling(maximum, s.block_max(s.r, s.t, block), [&](const Expr &difference) {
        const Expr power = in_log2(in, difference);
        return in.is_general() ? exp2_nonpositive_or_zero(power) : exp2_nonpositive(power);
    });
}

} // namespace gyre::attention
