#include "delta_schedules.h"

namespace gyre::delta {
using namespace Halide;
namespace {

constexpr int threads = 64; // of a block

} // namespace

// A thread adds up a row: this is a small part of what gradients take.
void schedule_cuda(RowStages &s) {
    Var rows("rows"), row("row");
    s.delta.split(s.i, rows, row, threads, TailStrategy::GuardWithIf).gpu_blocks(rows, s.h, s.z).gpu_threads(row);
    s.sum.compute_at(s.delta, row).store_in(MemoryType::Register);
}

} // namespace gyre::delta
