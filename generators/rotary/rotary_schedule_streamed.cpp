#include "rotary_schedules.h"

namespace gyre::rotary {
using namespace Halide;

// A processor asks for lines ahead only within a page of 4 KB, and waits at the beginning of each: requests go that far, and rows
// of four places, in pages of their own, are rotated in turn, as large memcpy()s copy.
void schedule_streamed(Stages &s, const Expr &pairs, const OutputImageParam &x, int lanes) {
    constexpr int ahead_bytes = 4096, run = 8; // of the 32 tokens, or the heads, that are the outer loop
    RVar chunk("chunk"), lane("lane");
    s.out.compute_root();
    s.out.update(0).unscheduled();
    s.out.update(1).unscheduled();
    Stage rotation = s.out.update(2);
    rotation.allow_race_conditions()
        .split(s.pair, chunk, lane, lanes, TailStrategy::GuardWithIf)
        .vectorize(lane)
        .unroll(s.parity);
    Var place("place"), step("step");
    rotation.split(s.b, place, step, run, TailStrategy::GuardWithIf).reorder(s.parity, lane, chunk, place, s.a, step);
    rotation.prefetch(x.parameter(), place, s.a, ahead_bytes / x.type().bytes() / (2 * pairs),
                      PrefetchBoundStrategy::NonFaulting);
    s.rotated.compute_at(s.out, chunk).bound_storage(s.i, lanes).vectorize(s.i, lanes, TailStrategy::GuardWithIf);
    for (int usual : {64, 32}) rotation.specialize(pairs == usual).unroll(chunk);
}

} // namespace gyre::rotary
