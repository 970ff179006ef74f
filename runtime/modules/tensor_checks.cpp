#include "tensor_checks.h"

#include <algorithm>

namespace gyre::modules {

std::string shape_text(const gyre_tensor &t) {
    std::string shape = "[";
    for (std::int32_t i = 0; i < t.rank; i++) shape += (i ? ", " : "") + std::to_string(t.shape[i]);
    return shape + "]";
}

void check_tensor(const char *name, const gyre_tensor &t, const Extents &shape) {
    if (t.dtype != GYRE_F32) throw Error(GYRE_BAD_TYPE, std::string(name) + ": expected f32");
    if (t.device != GYRE_CPU) throw Error(GYRE_UNSUPPORTED, std::string(name) + ": expected a tensor on the CPU");
    const gyre_tensor dense = view(t.data, GYRE_F32, shape);
    if (t.rank != dense.rank || !std::equal(dense.shape, dense.shape + dense.rank, t.shape))
        throw Error(GYRE_BAD_SHAPE,
                    std::string(name) + ": got shape " + shape_text(t) + ", expected " + shape_text(dense));
    for (std::int32_t i = 0; i < t.rank; i++)
        if (t.shape[i] > 1 && t.strides[i] != dense.strides[i])
            throw Error(GYRE_BAD_SHAPE, std::string(name) + ": expected C order");
    if (!t.data && shape.product() > 0) throw Error(GYRE_BAD_ARGUMENT, std::string(name) + ": got no data");
}

} // namespace gyre::modules
