// A pipeline as generators/passes/cuda leaves it, for the tests of that.
#pragma once
#include "../support/lowered_text.h"
#include "passes/cuda/lower.h"

#include <cstdio>
#include <fstream>
#include <sstream>

namespace gyre::cuda {

struct Lowered {
    std::string device, host;
};

/// Lowers f for CUDA; `file` becomes the name of its functions.
inline Lowered lower(Halide::Func f, const std::vector<Halide::Argument> &arguments, Lowering lowering = {}) {
    lowering.device_code = "lowered.cu";
    const Halide::Target target(
        "x86-64-linux-cuda-cuda_capability_80-no_runtime-no_asserts-no_bounds_query-user_context");
    Halide::Pipeline pipeline(f);
    lower_to_cuda(pipeline, lowering);
    std::ostringstream host;
    host << pipeline.compile_to_module(arguments, "f", target).functions()[0].body;
    std::ifstream file(lowering.device_code);
    std::ostringstream device;
    device << file.rdbuf();
    std::remove(lowering.device_code.c_str());
    return {device.str(), host.str()};
}

using test::count, test::refusal;

} // namespace gyre::cuda
