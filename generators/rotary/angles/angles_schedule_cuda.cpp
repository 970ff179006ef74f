#include "angles_schedules.h"

namespace gyre::angles {
using namespace Halide;

// A thread is a pair of a token: cosine and sine leave together, neighbours of a row by neighbours of a warp.
void schedule_cuda(CudaStages &s, const CudaKnobs &k) {
    Var runs("runs"), pair("pair"), tokens("tokens"), token("token");
    s.table.bound(s.c, 0, 2)
        .split(s.i, runs, pair, k.pairs, TailStrategy::GuardWithIf)
        .split(s.t, tokens, token, k.tokens, TailStrategy::GuardWithIf)
        .reorder(s.c, pair, token, tokens, runs, s.z)
        .unroll(s.c)
        .gpu_blocks(tokens, runs, s.z)
        .gpu_threads(pair, token);
    s.both.compute_at(s.table, pair).store_in(MemoryType::Register);
}

} // namespace gyre::angles
