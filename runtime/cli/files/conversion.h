/// Changes the element type of an array.
#pragma once

#include "files/array.h"

namespace gyre::cli {

bool is_float(gyre_dtype dtype);

/// Both types are floating point. f64 goes through f32 on its way to a 16-bit type.
Array to_float_type(const std::string &subject, Array array, gyre_dtype dtype);

/// int64 to int32; UsageError that blames subject if a number does not fit.
Array to_int32(const std::string &subject, Array array);

} // namespace gyre::cli
