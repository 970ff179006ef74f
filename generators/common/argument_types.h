/// The words of the tables of arguments, <operation>_arguments.inc, which generators declare a kernel's arguments from, and by
/// which the runtime hands them over and checks what Halide says of a kernel. C++17 without Halide: both sides read it.
///
///     GYRE_INPUT(name, type, rank, when)     in the order of the call; rank 0: a scalar
///     GYRE_OUTPUT(name, type, rank, when)    after all inputs
///     GYRE_SCORE_INPUTS(when)                the inputs that a score function asks for (attention/score.h)
///
/// `type` is a word of argument_type. `when` is `always`, or what the kernels that have the argument are made with: a parameter
/// that is true or is a name, or a fact that is not 0.
#pragma once

#include <cstdint>
#include <string_view>

namespace gyre {

namespace argument_type {
// clang-format off
struct f32     { using scalar = float; };
struct f64     { using scalar = double; };
struct i32     { using scalar = int32_t; };
struct u8      { using scalar = uint8_t; };
struct u16     { using scalar = uint16_t; };
struct u32     { using scalar = uint32_t; };
struct u64     { using scalar = uint64_t; };
struct boolean { using scalar = bool; };
// Buffers of a type that depends on the variant.
struct dtype       { using scalar = void; }; // of this parameter's
struct from_dtype  { using scalar = void; };
struct part_dtype  { using scalar = void; };
struct out_dtype   { using scalar = void; }; // of the one that variant_type() tells
struct cache_dtype { using scalar = void; };
struct angle_dtype { using scalar = void; };
// clang-format on
} // namespace argument_type

/// What a word stands for in a variant: a type, or the parameter that names one. `is(word)` tells what the variant is made with.
template <typename Is>
std::string_view variant_type(std::string_view word, const Is &is) {
    if (word == "out_dtype") return is("partial") ? "f32" : "dtype";
    if (word == "cache_dtype") {
#define GYRE_CACHE_FORMAT(name, type, provider, in_tiles)                                                              \
    if (is(#name)) return type;
#include "cache_formats.inc"
#undef GYRE_CACHE_FORMAT
        return "dtype";
    }
    if (word == "angle_dtype") return is("fixed_point") ? "dtype" : "f32";
    return word;
}

} // namespace gyre
