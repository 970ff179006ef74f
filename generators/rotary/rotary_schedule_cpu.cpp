#include "rotary_schedules.h"

namespace gyre::rotary {
using namespace Halide;

namespace {

// A vector loop's tail would be most of the code: what is left of the pairs goes one by one, and so do copies or what is left of them.
void schedule_little_code(Stages &s, const Knobs &k) {
    RVar chunk("chunk"), lane("lane");
    s.out.compute_root();
    s.out.update(0).unscheduled();
    if (k.vector_copies)
        s.out.update(1).allow_race_conditions().vectorize(s.after, k.lanes, TailStrategy::GuardWithIf);
    else
        s.out.update(1).unscheduled();
    s.out.update(2)
        .allow_race_conditions()
        .split(s.pair, chunk, lane, k.lanes, TailStrategy::GuardWithIf)
        .vectorize(lane)
        .unroll(s.parity);
    s.rotated.compute_at(s.out, chunk).bound_storage(s.i, k.lanes).vectorize(s.i, k.lanes, TailStrategy::RoundUp);
    s.out.update(3).unroll(s.rest_parity).reorder(s.rest_parity, s.a, s.b, s.rest_pair);
    s.rest.compute_at(s.out, s.a);
    if (k.vector_copies) s.out.update(4).unscheduled();
}

// Pairs that fill no vector: few of them are left in each row, so rows are the inner loops, and without a rest nothing is walked.
void schedule_rest(Stages &s, int lanes) {
    RVar chunk("rest_chunk"), lane("rest_lane");
    s.out.update(3)
        .allow_race_conditions()
        .split(s.rest_pair, chunk, lane, lanes, TailStrategy::GuardWithIf)
        .reorder(s.rest_parity, lane, s.a, s.b, chunk)
        .vectorize(lane)
        .unroll(s.rest_parity);
    s.rest.compute_at(s.out, s.a).bound_storage(s.i, lanes).vectorize(s.i, lanes, TailStrategy::GuardWithIf);
}

// A copy of `count` features of each row. Most calls copy none: they then walk no rows in vain.
void schedule_copy(Stages &s, Stage copy, const RVar &feature, const Expr &count, int lanes) {
    RVar chunk("copied_chunk"), lane("copied_lane");
    copy.allow_race_conditions().split(feature, chunk, lane, lanes, TailStrategy::GuardWithIf).vectorize(lane);
    copy.specialize(count > 0);
    copy.reorder(lane, s.a, s.b, chunk);
}

} // namespace

// Rows are walked as they lie in memory; a row is one vector loop over its pairs, with the usual row lengths unrolled.
// The caller gives runs of tokens short enough for their table rows to stay in L1 over all heads. With several rows at once,
// the usual lengths' loops are for rows with the same angles, which a chunk of them then reads once.
void schedule_cpu(Stages &s, const Inputs &in, const Expr &same_angles, int rest_lanes, const Knobs &k) {
    if (k.usual_lengths == 0) return schedule_little_code(s, k);
    RVar chunk("chunk"), lane("lane");
    Var rows("rows"), row("row");
    s.out.compute_root();
    if (rest_lanes) {
        schedule_copy(s, s.out.update(0), s.before, in.copied_before, k.lanes);
        schedule_copy(s, s.out.update(1), s.after, in.copied_after, k.lanes);
        schedule_rest(s, rest_lanes);
    } else {
        const std::pair<Stage, RVar> copies[] = {{s.out.update(0), s.before}, {s.out.update(1), s.after}};
        for (auto [copy, feature] : copies)
            copy.allow_race_conditions().vectorize(feature, k.lanes, TailStrategy::GuardWithIf);
    }
    Stage rotation = s.out.update(2);
    rotation.allow_race_conditions()
        .split(s.pair, chunk, lane, k.lanes, TailStrategy::GuardWithIf)
        .vectorize(lane)
        .unroll(s.parity);
    if (k.rows > 1)
        rotation.split(s.a, rows, row, k.rows, TailStrategy::GuardWithIf)
            .reorder(s.parity, lane, row, chunk, rows, s.b)
            .unroll(row);
    s.rotated.compute_at(k.rows > 1 ? LoopLevel(s.out, row) : LoopLevel(s.out, chunk))
        .bound_storage(s.i, k.lanes)
        .vectorize(s.i, k.lanes, TailStrategy::GuardWithIf);
    for (int usual : {64, 32})
        rotation.specialize(k.rows > 1 ? in.pairs == usual && same_angles : in.pairs == usual).unroll(chunk);
}

} // namespace gyre::rotary
