// Binds signature, algorithm and schedules, and asks for the passes that the target's instructions need.
#include "matmul_cuda.h"
#include "matmul_schedules.h"

#include <passes/cuda/lower.h>
#include <passes/instructions/bf16_dot.h>
#include <passes/instructions/bf16_matrices.h>
#include <passes/instructions/tile_products.h>

namespace matmul {

class Matmul : public Halide::Generator<Matmul> {
public:
    Input<Halide::Buffer<Halide::bfloat16_t, 2>> x{"x"}, w{"w"}; // (k, m), (k, n)
    Input<Halide::Buffer<float, 1>> bias{"bias"};                // (n)
    Output<Halide::Buffer<Halide::bfloat16_t, 2>> out{"out"};    // (n, m)

    GeneratorParam<int> rows{"rows", 0, 0, 64}, vectors{"vectors", 0, 0, 8}, unroll{"unroll", 4, 1, 16};
    GeneratorParam<std::string> device_code{"device_code", ""}; // of CUDA: where gyre_add_generator() wants it

    void generate() {
        const Halide::Target target = get_target();
        const Inputs in{x, w, bias, x.dim(0).extent(), x.dim(1).extent(), w.dim(1).extent()};
        for (auto *matrix : {&x, &w})
            for (int d : {0, 1}) matrix->dim(d).set_min(0);
        w.dim(0).set_extent(in.K);
        bias.dim(0).set_bounds(0, in.N);
        out.dim(0).set_bounds(0, in.N);
        out.dim(1).set_bounds(0, in.M);
        if (target.has_feature(Halide::Target::CUDA)) {
            CudaStages stages = cuda_algorithm(in, out);
            schedule_cuda(stages);
            gyre::cuda::lower_to_cuda(*this, {device_code, {}});
            return;
        }
        const bool is_amx = target.has_feature(Halide::Target::AVX512_SapphireRapids);
        const Engine engine = is_amx                            ? Engine::tiles
                              : gyre::has_bf16_dot(target)      ? Engine::pairs
                              : gyre::has_bf16_matrices(target) ? Engine::matrices
                                                                : Engine::vectors;
        const int lanes = natural_vector_size<float>();
        const bool few = target.arch == Halide::Target::X86 && lanes < 16;
        // Accumulators fill the registers: 8 tiles, 32 vectors, or 16 of AVX and of SSE. One vector of columns is 32 KiB of w where K is
        // 1024, which stay in the first cache.
        int tall = 6, wide = 2;
        switch (engine) {
        case Engine::tiles:
            tall = 32;
            break;
        case Engine::pairs:
            tall = 24;
            wide = 1;
            break;
        case Engine::matrices:
            tall = 8;
            wide = 3;
            break;
        case Engine::vectors:
            tall = few ? 4 : 8;
            break;
        }
        if (rows > 0) tall = rows;
        if (vectors > 0) wide = vectors;
        const Sizes sizes{engine, tall, wide * lanes, lanes};
        Stages stages = algorithm(in, sizes, out);
        schedule(stages, {unroll});
        switch (engine) {
        case Engine::tiles:
            gyre::map_tile_products(*this);
            break;
        case Engine::pairs:
            gyre::map_bf16_dots(*this);
            break;
        case Engine::matrices:
            gyre::map_bf16_matrices(*this, {});
            break;
        case Engine::vectors:
            break;
        }
    }
};

} // namespace matmul

HALIDE_REGISTER_GENERATOR(matmul::Matmul, matmul)
