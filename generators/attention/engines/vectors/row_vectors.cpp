#include "row_vectors.h"

#include "attention/recurrence/features.h"
#include "attention/variants/dropout/kept.h"
#include "attention/variants/general/scores.h"
#include "attention/variants/score/stage.h"
#include "passes/loop_name.h"
#include "passes/memory/equal_elements.h"
#include "passes/memory/register_values.h"
#include "passes/order/loop_limits.h"

namespace gyre::attention {
using namespace Halide;

void check_divides(const char *part_name, int part, const char *whole_name, int whole) {
    _halide_user_assert(whole % part == 0)
        << whole_name << " is " << whole << ", expected a multiple of " << part_name << ", " << part << "\n";
}

void RowVectors::check() const {
    const Sizes &z = shared().sizes;
    check_divides("key_unroll", k.key_unroll, "key_block", z.key_block);
    check_divides("feature_chunk", k.feature_chunk, "head_dim", z.v_head_dim);
    check_divides("lanes", k.lanes, "head_dim", z.head_dim);
    if (k.key_vector > 1) {
        check_divides("key_vector", k.key_vector, "head_dim", z.head_dim);
        check_divides("key_vector", k.key_vector, "feature_chunk", k.feature_chunk);
    }
    if (shared().general.bias_rows.defined()) check_divides("lanes", k.lanes, "key_block", z.key_block);
}

// One task owns a few row tiles of the heads that share keys. A block of keys and values is rotated and packed into dense
// rows once a task, unless they are read as stored, and used by all its row tiles; a row tile's scores and weights for the
// block stay in L1.
void RowVectors::schedule() {
    SoftmaxStages &s = stages();
    const Sizes &z = s.sizes;
    check();
    const int w = z.lanes;
    Var ro("ro"), ri("ri"), rv("rv"), ji("ji");
    const TaskLoops loops;
    schedule_task(s, w);
    schedule_queries();
    Stage recurrence = schedule_recurrence(s, k.row_vectors, loops, 0, false);
    rows.unroll(recurrence, s.state, loops.vector);
    schedule_guard(s, w);
    provider->schedule_offsets(s, k.lanes);
    provider->schedule_copies(s, k.lanes);
    if (s.operands.key_scales.defined())
        s.operands.key_scales.compute_at(s.state, loops.tile)
            .bound_storage(s.b, 1)
            .bound_storage(s.j, z.key_block)
            .update()
            .unscheduled();

    // Scores, maximum and weights of one row tile and one block.
    s.masked.compute_at(s.state, loops.tile).bound_storage(s.j, z.key_block);
    const bool in_steps = steps().scored > 0;
    RVar formed_tile("formed_tile"), formed("formed"), beside("beside");
    Stage raw = in_steps ? s.masked.update(0) : Stage(s.masked);
    if (in_steps) {
        raw.split(s.r, ro, ri, k.row_vectors * w)
            .split(ri, ri, rv, w)
            .split(s.formed_j, formed_tile, formed, k.key_unroll)
            .split(formed, formed, beside, keys_in_vector())
            .reorder(rv, beside, ri, formed, ro, formed_tile, s.key_step)
            .unroll(formed);
        if (keys_in_vector() > 1) raw.allow_race_conditions().vectorize(beside);
    } else {
        raw.tile(s.r, s.j, ro, score_tile, ri, ji, k.row_vectors * w, k.key_unroll, TailStrategy::RoundUp)
            .split(ri, ri, rv, w)
            .reorder(rv, ri, ji, ro, score_tile)
            .unroll(ji);
    }
    raw.vectorize(rv);
    rows.unroll(raw, s.masked, ri);
    for (int update = in_steps ? 1 : 0; update < s.masked.num_update_definitions(); update++)
        if (update != s.general.bias_update) s.masked.update(update).vectorize(s.r, w);
    s.block_sum.bound_storage(s.b, 1);
    for (auto [reduction, key] : {std::pair{&s.block_max, s.max_j}, std::pair{&s.block_sum, s.sum_j}}) {
        rows.over(reduction->compute_at(s.state, loops.tile), *reduction, s.r);
        if (reduction->has_update_definition()) rows.over(reduction->update().reorder(s.r, key), *reduction, s.r);
    }
    s.weights.bound_storage(s.b, 1);
    if (stores_weights())
        rows.over(s.weights.compute_at(s.state, loops.tile).bound_storage(s.j, z.key_block), s.weights, s.r);
    if (weight_step() > 0) rows.over(s.weights.update().reorder(s.r, s.weight_j, s.weight_step), s.weights, s.r);
    if (weight_step() > 1) {
        RVar vector("vector"), weighed("weighed_beside");
        s.weights.update()
            .allow_race_conditions()
            .split(s.weight_j, vector, weighed, keys_in_vector())
            .vectorize(weighed)
            .unroll(vector);
    }

    const LoopLevel row_tile(s.state, loops.tile);
    schedule_products({{s.masked, ro}, row_tile, {s.state, loops.register_tile}});
    if (s.general.bias_rows.defined()) schedule_general(s, row_tile);
    if (s.dropout.kept.defined()) schedule_kept(s, row_tile);
    if (s.score.update >= 0) schedule_score(s, row_tile);
}

std::vector<RowVectors::Packed> RowVectors::packed() const {
    const Stages &s = shared();
    if (provider->reads_in_place()) return {};
    return {{s.operands.k_rows, s.j, 1}, {s.operands.v_rows, s.j, 1}};
}

void RowVectors::lower(const Lowering &lowering) const {
    if (k.key_vector > 1) keep_values_in_registers(lowering.generator);
    if (rows.to_last) {
        if (sums_once()) sum_once(lowering);
        end_last_tile(lowering);
        rescale_once(lowering);
    }
    const int step = steps().scored;
    for (const Packed &each : packed()) // to the end of the last step with a key, in which the last key is repeated
        end_loop_early(lowering.generator, each.rows, each.loop.name(), loop_of(shared().block),
                       [=, keys = lowering.key_count, block = shared().sizes.key_block](const Expr &b) {
                           return (keys - b * block + step - 1) / step * step / each.keys;
                       });
}

/// An element of the tuples that the state of a row tile is made of.
std::string RowVectors::of_state(int element) const { return shared().state.name() + "." + std::to_string(element); }

/// Each tuple of the state has a place for its rows' maxima and sums: they are stored in the first one's, and only those are read.
void RowVectors::sum_once(const Lowering &lowering) const {
    const Stages &s = shared();
    const int chunk = s.sizes.feature_chunk;
    keep_equal_elements_once(lowering.generator, {of_state(chunk), of_state(chunk + 1)}, s.e.name());
}

/// Each tuple of the state holds its rows' maxima: what a block does to them is formed once.
void RowVectors::rescale_once(const Lowering &lowering) const {
    const Stages &s = shared();
    load_equal_elements_once(lowering.generator, of_state(s.sizes.feature_chunk), s.e.name());
}

Func read_as_vectors(Func elements, const Func &product, const RVar &step, const Var &along, int lanes) {
    return elements.in(product)
        .compute_at(product, step)
        .store_in(MemoryType::Register)
        .vectorize(along, lanes)
        .unroll(along);
}

Expr features_of_scores(SoftmaxStages &s, const Expr &count, int together) {
    if (together == 1 || !counts_features(s)) {
        RDom features(0, count, "features");
        s.feature = features;
        return features;
    }
    RDom features(0, together, 0, count / together, "features");
    s.feature_within = features.x;
    s.feature = features.y;
    return features.y * together + features.x;
}

void schedule_features(SoftmaxStages &s, Func product, std::vector<VarOrRVar> tile, int key_vector) {
    RVar step("step"), within("within");
    Stage sum = product.update();
    if (key_vector > 1) {
        if (counts_features(s)) {
            step = s.feature;
            within = s.feature_within;
        } else {
            sum.split(s.feature, step, within, key_vector);
        }
        sum.unroll(within);
        read_as_vectors(s.operands.k_rows, product, step, s.d, key_vector).unroll(s.j);
        tile.insert(tile.end(), {within, step});
    } else {
        tile.emplace_back(s.feature);
    }
    sum.reorder(tile);
}

} // namespace gyre::attention
