/// Reads the input files of an operation by their role: each role has element types that it accepts and one that the
/// library wants. All throw UsageError that names the option and the file.
#pragma once

#include "files/array.h"

#include <optional>
#include <string>

namespace gyre::cli {

/// q, k, v, x: float. Converted to dtype, or, where that is not given, from f64 to f32 and else left alone.
Array read_tensor(const std::string &option, const std::string &path, std::optional<gyre_dtype> dtype);

/// Float, converted to f32 (sinks, slopes, tables) or f64 (frequencies).
Array read_floats(const std::string &option, const std::string &path, gyre_dtype dtype);
inline Array read_f32(const std::string &option, const std::string &path) {
    return read_floats(option, path, GYRE_F32);
}

/// int32 or int64, left alone.
Array read_positions(const std::string &option, const std::string &path);

/// int32, or int64 that fits (lengths).
Array read_lengths(const std::string &option, const std::string &path);

/// bool.
Array read_mask(const std::string &option, const std::string &path);

/// names: of the dimensions, such as "[batch, heads, seqlen, head_dim]".
void expect_rank(const std::string &subject, const Shape &shape, std::size_t rank, const char *names);

} // namespace gyre::cli
