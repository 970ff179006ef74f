// Writes the CUDA C++ of a pipeline whose threads share memory, for the emulation's tests:
//     out(x, y) = bf16(in(y, x)) + in(y, x)           tiles of 16 x 16, staged twice, read by other threads than have written
//
//     staged_pipeline DIRECTORY
#include "passes/cuda/lower.h"

using namespace Halide;

int main(int count, char **arguments) {
    if (count != 2) return 1;
    const int tile = 16;
    ImageParam in(Float(32), 2, "in");
    Func wide("wide"), narrow("narrow"), out("out");
    Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");
    wide(x, y) = in(x, y);
    narrow(x, y) = cast<bfloat16_t>(in(x, y));
    out(x, y) = cast<float>(narrow(y, x)) + wide(y, x);
    for (int d : {0, 1}) {
        in.dim(d).set_min(0);
        out.output_buffer().dim(d).set_min(0);
    }
    out.gpu_tile(x, y, xo, yo, xi, yi, tile, tile, TailStrategy::RoundUp);
    for (Func f : {wide, narrow}) f.compute_at(out, xo).store_in(MemoryType::GPUShared).gpu_threads(x, y);

    Pipeline pipeline(out);
    gyre::cuda::lower_to_cuda(pipeline, {std::string(arguments[1]) + "/staged.cu", {}});
    pipeline.compile_to_module(
        {in}, "staged",
        Target("x86-64-linux-cuda-cuda_capability_80-no_runtime-no_asserts-no_bounds_query-user_context"));
    return 0;
}
