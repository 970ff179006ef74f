/// The header of an .npy file, NumPy's format for one array, versions 1.0 to 3.0:
///     \x93NUMPY  major  minor  length (2 bytes, from version 2.0 on 4, little-endian)  then a Python dictionary such
///     as
///     {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
/// Source: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include "files/array.h"

#include <string>

namespace gyre::cli {

struct NpyHeader {
    gyre_dtype dtype = GYRE_F32;
    Shape shape;
};

/// Reads the dictionary, in time linear in its length. Throws UsageError that blames subject for what it does not
/// understand, and for types and orders that Gyre does not read.
NpyHeader parse_npy_dictionary(const std::string &subject, const std::string &text, const char *types);

/// Everything that stands before the data, version 1.0, padded to a multiple of 64 bytes. Not for bf16, which NumPy
/// lacks.
std::string format_npy_header(gyre_dtype dtype, const Shape &shape);

} // namespace gyre::cli
