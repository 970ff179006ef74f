/// Reads and writes .npy files. Clear refusals instead of guesses: what is not understood is named and nothing is read.
#pragma once

#include "files/array.h"

#include <string>
#include <vector>

namespace gyre::cli {

/// Throws UsageError that names the option and the file: missing, a directory, not .npy, an unknown version, a type
/// that is not float16/32/64, bool, int32/64, big-endian, Fortran order, too short or too long.
/// types: those that the caller takes, for the refusal of a type that no caller takes.
Array read_npy(const std::string &option, const std::string &path, const char *types);

struct NpyOutput {
    std::string path;
    const Array *array; // bf16 is written as f32, because NumPy has no such type
};

/// Writes all files or none, each to a temporary name that is then renamed. Ctrl-C while this runs leaves neither a
/// half-written file nor a temporary one, provided that this is the process's only thread: another would receive the
/// signal. Throws RunError.
void write_npy(const std::vector<NpyOutput> &outputs);

} // namespace gyre::cli
