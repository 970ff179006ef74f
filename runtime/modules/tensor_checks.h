/// Checks of the tensors that modules are given.
#pragma once

#include <gyre/gyre.hpp>

#include <string>

namespace gyre::modules {

/// "[128, 4, 512]"
std::string shape_text(const gyre_tensor &tensor);

/// Throws Error that names the tensor unless it is f32 in C order on the CPU, of this shape, with data if it has elements.
void check_tensor(const char *name, const gyre_tensor &tensor, const Extents &shape);

} // namespace gyre::modules
