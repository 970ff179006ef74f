// The two products on vectors: a register tile of the scores, and one of the weighted values.
#include "attention/attention_schedules.h"

namespace gyre::attention {
using namespace Halide;
namespace {

/// Elements that neighbour along `along` are read as vectors before each turn of `step`, and their lanes multiply.
Func read_as_vectors(Func elements, const Func &product, const RVar &step, const Var &along, int lanes) {
    return elements.in(product)
        .compute_at(product, step)
        .store_in(MemoryType::Register)
        .vectorize(along, lanes)
        .unroll(along);
}

/// The order of a register tile of scores: `tile`, inside the loop over features.
void schedule_features(Stages &s, Func product, std::vector<VarOrRVar> tile, const Knobs &k) {
    RVar step("step"), within("within");
    Stage sum = product.update();
    if (k.key_vector > 1) {
        sum.split(s.feature, step, within, k.key_vector).unroll(within);
        read_as_vectors(s.k_rows, product, step, s.d, k.key_vector).unroll(s.j);
        tile.insert(tile.end(), {within, step});
    } else {
        tile.emplace_back(s.feature);
    }
    sum.reorder(tile);
}

/// Of the scores, a register tile of row_vectors vectors of queries and key_unroll keys: each step takes one feature of
/// these vectors, and multiplies it by a scalar of each key. Of the weighted values likewise, with feature_chunk features.
void schedule_products_of_many_rows(Stages &s, const Knobs &k, const LoopLevel &scores_at, const LoopLevel &values_at) {
    const int w = s.sizes.lanes;
    s.scores.compute_at(scores_at).vectorize(s.r, w).unroll(s.r).unroll(s.j);
    schedule_features(s, s.scores, {s.r, s.j}, k);
    s.scores.update().vectorize(s.r, w).unroll(s.r).unroll(s.j);
    s.weighted.compute_at(values_at).vectorize(s.r, w).unroll(s.r).unroll(s.d);
    s.weighted.update().reorder(s.r, s.d, s.value_j).vectorize(s.r, w).unroll(s.r).unroll(s.d);
    if (k.key_vector > 1) read_as_vectors(s.v_rows, s.weighted, s.value_j, s.d, k.key_vector);
    if (s.guarded.defined())
        for (Stage stage : {s.weighted.update(1), s.weighted.update(2).reorder(s.r, s.d, s.guarded_j, s.guarded_turn)})
            stage.vectorize(s.r, w).unroll(s.r).unroll(s.d);
}

/// For fewer rows than a vector has lanes. Beside each row of the queries stand its next `fold` features, and a key's are
/// repeated along the vector. The weighted values have their features along the lanes, and are transposed once a block.
/// Either way keys and values are taken a vector at a time, as they are stored.
void schedule_products_of_few_rows(Stages &s, const Knobs &k, const LoopLevel &scores_at, const LoopLevel &values_at) {
    const Sizes &z = s.sizes;
    const int w = z.lanes, wide = w * z.fold;
    s.q_folded.compute_root()
        .bound_storage(s.t, z.task_tiles)
        .bound(s.f, 0, z.fold)
        .bound(s.r, 0, z.row_tile)
        .vectorize(s.f)
        .vectorize(s.r, w);
    s.folded_scores.compute_at(scores_at).bound(s.f, 0, z.fold);
    schedule_features(s, s.folded_scores, {s.f, s.r, s.j}, k);
    for (Stage stage : {Stage(s.folded_scores), Stage(s.folded_scores.update())})
        stage.vectorize(s.f).vectorize(s.r, w).unroll(s.r).unroll(s.j);
    s.weighted_rows.compute_at(values_at).bound_storage(s.b, 1);
    for (Stage stage : {Stage(s.weighted_rows), s.weighted_rows.update().reorder(s.d, s.r, s.value_j)})
        stage.vectorize(s.d, wide).unroll(s.d).unroll(s.r);
    if (k.key_vector > 1) read_as_vectors(s.weights, s.weighted_rows, s.value_j, s.r, w);
    if (s.guarded.defined())
        for (Stage stage :
             {s.weighted_rows.update(1), s.weighted_rows.update(2).reorder(s.d, s.r, s.guarded_j, s.guarded_turn)})
            stage.vectorize(s.d, wide).unroll(s.d).unroll(s.r);
    schedule_transpose(s.weighted_lanes, values_at);
}

} // namespace

void schedule_products(Stages &s, const Knobs &k, const LoopLevel &scores_at, const LoopLevel &values_at) {
    const auto schedule = s.sizes.fold > 0 ? schedule_products_of_few_rows : schedule_products_of_many_rows;
    schedule(s, k, scores_at, values_at);
}

} // namespace gyre::attention
