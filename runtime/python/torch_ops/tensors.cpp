#include "tensors.h"

#include <algorithm>
#include <iterator>

namespace gyre_torch {
namespace {

gyre_dtype known_dtype(const Tensor &tensor, const char *name) {
    // In the order of gyre_dtype.
    static const int32_t known[] = {aoti_torch_dtype_float32(), aoti_torch_dtype_float16(), aoti_torch_dtype_bfloat16(),
                                    aoti_torch_dtype_float64(), aoti_torch_dtype_int32(),   aoti_torch_dtype_int64(),
                                    aoti_torch_dtype_bool()};
    const auto found = std::find(std::begin(known), std::end(known), dtype_of(tensor));
    expect(found != std::end(known), name,
           ": got a type that gyre does not know, expected a floating-point, integer or boolean one");
    return static_cast<gyre_dtype>(found - std::begin(known));
}

} // namespace

int32_t dtype_of(const Tensor &tensor) {
    int32_t dtype;
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(tensor.get(), &dtype));
    return dtype;
}

gyre_tensor view(const Tensor &tensor, const char *name) {
    const auto sizes = tensor.sizes(), strides = tensor.strides();
    expect(sizes.size() <= GYRE_MAX_RANK, name, ": got rank ", sizes.size(), ", expected at most ", GYRE_MAX_RANK);
    expect(tensor.is_cpu(), name, ": is not in the CPU's memory");
    gyre_tensor result{};
    result.data = tensor.data_ptr();
    result.dtype = known_dtype(tensor, name);
    result.device = GYRE_CPU;
    result.rank = static_cast<int32_t>(sizes.size());
    std::copy(sizes.begin(), sizes.end(), result.shape);
    std::copy(strides.begin(), strides.end(), result.strides);
    return result;
}

Tensor empty(const int64_t *shape, std::initializer_list<int> order, int32_t dtype) {
    int64_t strides[GYRE_MAX_RANK];
    int64_t stride = 1;
    for (const int *each = order.end(); each-- != order.begin();) {
        strides[*each] = stride;
        stride *= std::max<int64_t>(shape[*each], 1);
    }
    AtenTensorHandle made;
    TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(static_cast<int64_t>(order.size()), shape, strides, dtype,
                                                    aoti_torch_device_type_cpu(), 0, &made));
    return Tensor(made);
}

void check(gyre_status status) {
    if (status != GYRE_OK) throw std::runtime_error(gyre_last_error());
}

} // namespace gyre_torch
