/// What Halide says of a kernel's arguments, for kernels that tests make up.
#pragma once
#include <HalideRuntime.h>

#include <vector>

namespace gyre::test {

using SaidArguments = std::vector<halide_filter_argument_t>;

inline halide_filter_argument_t said_scalar(const char *name, halide_type_t type) {
    return {name, halide_argument_kind_input_scalar, 0, type, nullptr, nullptr, nullptr, nullptr, nullptr};
}
inline halide_filter_argument_t said_buffer(const char *name, halide_type_t type, int32_t rank) {
    return {name, halide_argument_kind_input_buffer, rank, type, nullptr, nullptr, nullptr, nullptr, nullptr};
}
inline halide_filter_argument_t said_output(const char *name, halide_type_t type, int32_t rank) {
    return {name, halide_argument_kind_output_buffer, rank, type, nullptr, nullptr, nullptr, nullptr, nullptr};
}

/// Those of a kernel that rotates f32 on a CPU.
inline SaidArguments rotary_arguments() {
    const halide_type_t f32(halide_type_float, 32), i32(halide_type_int, 32);
    return {said_scalar("__user_context", halide_type_t(halide_type_handle, 64)),
            said_buffer("cos", f32, 3),
            said_buffer("sin", f32, 3),
            said_scalar("offset", i32),
            said_scalar("pairs", i32),
            said_scalar("direction", f32),
            said_scalar("copied_before", i32),
            said_scalar("after", i32),
            said_scalar("copied_after", i32),
            said_buffer("x", f32, 3),
            said_output("out", f32, 3)};
}

/// The metadata entry of such a kernel.
inline const halide_filter_metadata_t *rotary_metadata() {
    static const SaidArguments arguments = rotary_arguments();
    static const halide_filter_metadata_t metadata = {1, (int32_t)arguments.size(), arguments.data(), "host",
                                                      "stand_in"};
    return &metadata;
}

} // namespace gyre::test
