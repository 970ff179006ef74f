/// What a kernel's attributes say.
#pragma once
#include "gyre/kernels.h"

#include <cstdint>
#include <string_view>

namespace gyre {

/// The value of `name=value` among a kernel's attributes; empty, or `fallback`, if it has none of that name.
std::string_view attribute(const gyre_kernel &kernel, std::string_view name);
int64_t attribute(const gyre_kernel &kernel, std::string_view name, int64_t fallback);

} // namespace gyre
