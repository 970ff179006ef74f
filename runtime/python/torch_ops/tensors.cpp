#include "tensors.h"

#include <algorithm>

namespace gyre_torch {
namespace {

gyre_dtype dtype_of(const Tensor &tensor, const char *name) {
    using torch::headeronly::ScalarType;
    switch (tensor.scalar_type()) {
    case ScalarType::Float:
        return GYRE_F32;
    case ScalarType::Half:
        return GYRE_F16;
    case ScalarType::BFloat16:
        return GYRE_BF16;
    case ScalarType::Double:
        return GYRE_F64;
    case ScalarType::Int:
        return GYRE_I32;
    case ScalarType::Long:
        return GYRE_I64;
    case ScalarType::Bool:
        return GYRE_BOOL;
    default:
        STD_TORCH_CHECK(false, name,
                        ": got a type that gyre does not know, expected a floating-point, integer or boolean one");
        return GYRE_F32;
    }
}

} // namespace

gyre_tensor view(const Tensor &tensor, const char *name) {
    const auto sizes = tensor.sizes(), strides = tensor.strides();
    STD_TORCH_CHECK(sizes.size() <= GYRE_MAX_RANK, name, ": got rank ", sizes.size(), ", expected at most ",
                    GYRE_MAX_RANK);
    STD_TORCH_CHECK(tensor.is_cpu(), name, ": is not in the CPU's memory");
    gyre_tensor result{};
    result.data = tensor.data_ptr();
    result.dtype = dtype_of(tensor, name);
    result.device = GYRE_CPU;
    result.rank = static_cast<int32_t>(sizes.size());
    std::copy(sizes.begin(), sizes.end(), result.shape);
    std::copy(strides.begin(), strides.end(), result.strides);
    return result;
}

void check(gyre_status status) { STD_TORCH_CHECK(status == GYRE_OK, gyre_last_error()); }

} // namespace gyre_torch
