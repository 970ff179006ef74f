#include "rotary_schedules.h"

namespace gyre::rotary {
using namespace Halide;

namespace {

// A block is some tokens; its threads are these times the vectors `run` of each, of which there may be `more`.
void map_to_blocks(Stage stage, const Stages &s, const std::vector<VarOrRVar> &more, const RVar &run, const Var &head,
                   const CudaKnobs &k) {
    Var tokens("tokens"), token("token"), groups("groups"), rest("rest");
    std::vector<VarOrRVar> order{head, run, token, tokens};
    order.insert(order.end(), more.begin(), more.end());
    order.insert(order.end(), {groups, s.c});
    stage.split(s.b, tokens, token, k.tokens, TailStrategy::GuardWithIf)
        .split(s.a, groups, head, k.heads, TailStrategy::GuardWithIf)
        .reorder(order)
        .never_partition(head, run, token, tokens, groups)
        .gpu_threads(run, token);
    if (more.empty())
        stage.gpu_blocks(tokens, groups, s.c);
    else
        stage.fuse(groups, s.c, rest).never_partition(more[0], rest).gpu_blocks(tokens, more[0], rest);
}

} // namespace

// A thread owns a vector of neighbouring pairs of one token: their angles are formed once, in registers, and every head of the
// group reads them from there. Each half of a pair moves in whole 16-byte accesses; interleaved pairs, whose two features
// are neighbours, as one run. A warp's threads walk along a token's features first, which lie together in memory.
void schedule_cuda(Stages &s, Pairing pairing, const CudaAngles &angles, const std::vector<Func> &sequences,
                   const CudaKnobs &k) {
    s.out.compute_root();
    // Which sequence a token is of, each thread finds for itself.
    const auto find_sequence_at = [&](int update, const RVar &loop) {
        Func sequence = sequences[static_cast<size_t>(update)];
        if (sequence.defined()) sequence.compute_at(s.out, loop).store_in(MemoryType::Register);
    };
    int update = 0;
    for (auto [copy, feature] : {std::pair(s.out.update(0), s.before), std::pair(s.out.update(1), s.after)}) {
        // The loop that something is computed at must have a name that no other update has.
        RVar run("run"), lane("lane"), runs("runs"), run_of_block("run_of_" + feature.name());
        copy.allow_race_conditions()
            .split(feature, run, lane, k.copy_lanes, TailStrategy::GuardWithIf)
            .vectorize(lane)
            .split(run, runs, run_of_block, k.runs, TailStrategy::GuardWithIf);
        map_to_blocks(copy, s, {runs}, run_of_block, Var("head"), k);
        find_sequence_at(update++, run_of_block);
    }

    RVar run("run"), lane("lane"), both("both");
    Var head("head");
    Stage rotation = s.out.update(2);
    rotation.allow_race_conditions().split(s.pair, run, lane, k.lanes, TailStrategy::GuardWithIf);
    if (pairing == Pairing::half)
        rotation.vectorize(lane).unroll(s.parity);
    else
        rotation.fuse(s.parity, lane, both).vectorize(both);
    map_to_blocks(rotation, s, {}, run, head, k);
    find_sequence_at(update, run);
    s.rotated.compute_at(s.out, head)
        .store_in(MemoryType::Register)
        .bound_storage(s.i, k.lanes)
        .vectorize(s.i, k.lanes, TailStrategy::GuardWithIf);
    Func both_angles = angles.both;
    both_angles.compute_at(s.out, run)
        .store_in(MemoryType::Register)
        .bound_storage(angles.i, k.lanes)
        .unroll(angles.i, k.lanes, TailStrategy::GuardWithIf);
}

} // namespace gyre::rotary
