// A product of matrices by warps, for the tests of the compiler stage and of its emulation:
//     out(j, i) = sum_k a(k, i) b(j, k)          a, b of 16 bits or f32; tiles of 32 x 32, by 2 warps, or one that has both tiles of rows;
//                                                blocks of 32 along k, staged ahead
#pragma once
#include "passes/cuda/lower.h"
#include "passes/cuda/warp_tiles.h"

namespace gyre::test {

struct Product {
    static constexpr int tile = 32, lanes = 32;

    // What a schedule may get wrong.
    Halide::Type type = Halide::BFloat(16);
    int depth = 16;              // of a product's tile
    int row_padding = 8;         // of the rows in shared memory
    int row_tiles = 1;           // of a warp
    bool rows_in_shared = false; // what is multiplied from the left, too
    bool in_shared = true;
    bool multiplies_rows = false; // a reduction that lanes have no exchange for

    Halide::ImageParam a, b;
    Halide::Func out{"product"};

    void build() {
        using namespace Halide;
        a = ImageParam(type, 2, "a");
        b = ImageParam(type, 2, "b");
        Var j("j"), i("i"), jt("jt"), it("it"), k("k"), n("n"), x("x"), y("y");
        Func rows("rows"), columns("columns"), sum("sum"), of_row("of_row"), result("result");
        const int warps = tile / cuda::tile_rows / row_tiles;
        const Expr blocks = a.dim(0).extent() / tile;
        rows(k, i, it, n) = a(n * tile + k, it * tile + i);
        columns(j, k, jt, n) = b(jt * tile + j, n * tile + k);
        RDom r(0, depth, 0, tile / depth, 0, blocks, "r"), c(0, 8, 0, tile / 8, "c");
        const Expr of_block = r.y * depth + r.x;
        sum(j, i, jt, it) = 0.0f;
        sum(j, i, jt, it) += cast<float>(rows(of_block, i, it, r.z)) * cast<float>(columns(j, of_block, jt, r.z));
        of_row(i, jt, it) = 1.0f;
        of_row(i, jt, it) *= sum(c.y * 8 + c.x, i, jt, it);
        result(j, i, jt, it) = multiplies_rows ? sum(j, i, jt, it) * of_row(i, jt, it) : Expr(sum(j, i, jt, it));
        out(x, y) = result(x % tile, y % tile, x / tile, y / tile);

        for (int d : {0, 1}) {
            a.dim(d).set_min(0);
            b.dim(d).set_min(0);
            out.output_buffer().dim(d).set_min(0);
        }
        Var lane("lane"), warp("warp"), turn("turn"), run("run"), xi("xi"), yi("yi");
        out.tile(x, y, jt, it, xi, yi, tile, tile, TailStrategy::RoundUp)
            .split(yi, turn, warp, warps)
            .reorder(xi, turn, warp, jt, it)
            .reorder(turn, xi, warp)
            .gpu_blocks(jt, it)
            .gpu_threads(xi, warp);
        for (Func f : {rows, columns, sum, of_row, result})
            for (const Var &v : f.args())
                f.bound_extent(v, v.name() == "j" || v.name() == "i" || v.name() == "k" ? tile : 1);
        result.compute_at(out, jt).store_in(MemoryType::GPUShared);
        cuda::warp_tile(result, i, j, {jt, it}, row_tiles);
        sum.compute_at(out, jt).store_in(MemoryType::Register);
        cuda::warp_tile(sum, i, j, {jt, it}, row_tiles);
        cuda::warp_product(sum.update(), i, j, r.x, r.y, {r.z, jt, it}, row_tiles);
        if (multiplies_rows) {
            of_row.compute_at(out, jt).store_in(MemoryType::Register);
            cuda::warp_rows(of_row, i, {jt, it});
            cuda::warp_reduction(of_row.update(), i, c.x, c.y, {jt, it});
        }
        rows.compute_at(sum, r.z);
        if (rows_in_shared) {
            rows.store_in(MemoryType::GPUShared)
                .hoist_storage(sum, jt)
                .ring_buffer(2)
                .bound_storage(k, tile + row_padding);
            fill(rows, k, i, it, n, warps);
        } else {
            rows.store_in(MemoryType::Register);
            cuda::warp_tile(rows, i, k, {it, n}, row_tiles);
        }
        if (!in_shared) return columns.compute_at(sum, r.z).store_in(MemoryType::Register), (void)0;
        columns.compute_at(sum, r.z)
            .store_in(MemoryType::GPUShared)
            .hoist_storage(sum, jt)
            .ring_buffer(2)
            .bound_storage(j, tile + row_padding);
        fill(columns, j, k, jt, n, warps);
    }

private:
    /// A block's threads copy 16 bytes each.
    void fill(Halide::Func f, const Halide::Var &along, const Halide::Var &row, const Halide::Var &block,
              const Halide::Var &n, int warps) const {
        Halide::Var lane("lane"), warp("warp"), turn("turn"), run("run");
        f.split(along, run, along, 16 / type.bytes())
            .fuse(run, row, turn)
            .split(turn, turn, lane, lanes)
            .split(turn, turn, warp, warps)
            .reorder(along, turn, lane, warp, block, n)
            .vectorize(along)
            .unroll(turn)
            .gpu_threads(lane, warp);
    }
};

} // namespace gyre::test
