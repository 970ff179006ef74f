// A pipeline as generators/cuda leaves it, for the tests of that.
#pragma once
#include "cuda/lower.h"

#include <cstdio>
#include <fstream>
#include <functional>
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

inline int count(const std::string &in, const std::string &what) {
    int found = 0;
    for (size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + 1)) found++;
    return found;
}

/// What a build is stopped with.
inline std::string refusal(const std::function<void()> &lowered) {
    try {
        lowered();
    } catch (const Halide::CompileError &error) {
        return error.what();
    }
    return "not refused";
}

} // namespace gyre::cuda
