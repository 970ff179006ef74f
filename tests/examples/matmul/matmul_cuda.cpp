#include "matmul_cuda.h"

#include <passes/cuda/primitives.h>
#include <passes/cuda/warp_tiles.h>

namespace matmul {
using namespace Halide;
namespace {

constexpr int tile = 64, step_numbers = 32, tile_depth = 16, warps = 4, lanes = 32;
constexpr int copied = 8;      // bf16 numbers of 16 bytes
constexpr int row_padding = 8; // so that the rows of a tile begin in different banks

} // namespace

CudaStages cuda_algorithm(const Inputs &in, const Func &out) {
    CudaStages s;
    const Var &j = s.j, &i = s.i, &k = s.k, &step = s.step, &jt = s.jt, &it = s.it;
    s.rows = Func("rows");
    s.columns = Func("columns");
    s.sums = Func("sums");
    s.result = Func("result");
    // Rows beyond the last one repeat it, and are not stored.
    s.rows(k, i, step, it) = in.x(step * step_numbers + k, min(it * tile + i, in.M - 1));
    s.columns(k, j, step, jt) = in.w(step * step_numbers + k, min(jt * tile + j, in.N - 1));
    RDom r(0, tile_depth, 0, step_numbers / tile_depth, 0, in.K / step_numbers, "r");
    s.depth = r.x;
    s.depths = r.y;
    s.steps = r.z;
    const Expr of_step = r.y * tile_depth + r.x;
    s.sums(j, i, jt, it) = 0.0f;
    s.sums(j, i, jt, it) += cast<float>(s.rows(of_step, i, r.z, it)) * cast<float>(s.columns(of_step, j, r.z, jt));
    s.result(j, i, jt, it) = s.sums(j, i, jt, it);
    s.out = out;
    const Expr z = s.result(s.n % tile, s.m % tile, s.n / tile, s.m / tile) + in.bias(s.n);
    s.out(s.n, s.m) = cast<bfloat16_t>(gelu(z, gyre::cuda::exp2_approx));
    return s;
}

void schedule_cuda(CudaStages &s) {
    Var jt("jt"), it("it"), ni("ni"), mi("mi"), lane("lane"), warp("warp"), turn("turn"), run("run");
    s.out.split(s.m, it, mi, tile, TailStrategy::GuardWithIf)
        .split(s.n, jt, ni, tile, TailStrategy::GuardWithIf)
        .split(mi, turn, warp, warps)
        .split(ni, run, lane, lanes)
        .reorder(run, turn, lane, warp, jt, it)
        .gpu_blocks(jt, it)
        .gpu_threads(lane, warp);
    for (Func f : {s.rows, s.columns, s.sums, s.result})
        for (const Var &v : f.args()) {
            const bool in_tile = v.name() == s.j.name() || v.name() == s.i.name();
            f.bound_extent(v, in_tile ? tile : v.name() == s.k.name() ? step_numbers : 1);
        }
    s.result.compute_at(s.out, jt).store_in(MemoryType::GPUShared);
    s.sums.compute_at(s.out, jt).store_in(MemoryType::Register);
    gyre::cuda::warp_tile(s.result, s.i, s.j, {s.jt, s.it});
    gyre::cuda::warp_tile(s.sums, s.i, s.j, {s.jt, s.it});
    gyre::cuda::warp_product(s.sums.update(), s.i, s.j, s.depth, s.depths, {s.steps, s.jt, s.it});
    s.rows.compute_at(s.sums, s.steps).store_in(MemoryType::Register);
    gyre::cuda::warp_tile(s.rows, s.i, s.k, {s.step, s.it});
    s.columns.compute_at(s.sums, s.steps)
        .store_in(MemoryType::GPUShared)
        .hoist_storage(s.sums, s.jt)
        .ring_buffer(2)
        .bound_storage(s.k, step_numbers + row_padding)
        .split(s.k, run, s.k, copied)
        .fuse(run, s.j, turn)
        .split(turn, turn, lane, lanes)
        .split(turn, turn, warp, warps)
        .reorder(s.k, turn, lane, warp, s.step, s.jt)
        .vectorize(s.k)
        .unroll(turn)
        .gpu_threads(lane, warp);
}

} // namespace matmul
