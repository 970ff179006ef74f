#include "dense.h"
#include "tensor.h"

namespace gyre::test {

Dense::Dense(const gyre_tensor &view, gyre_layout layout) {
    const bool packed = layout == GYRE_THD;
    const int token_axis = packed ? 0 : layout == GYRE_BSHD ? 1 : 2;
    const int head_axis = packed ? 1 : layout == GYRE_BSHD ? 2 : 1;
    const int dim_axis = packed ? 2 : 3;
    const int64_t batch_stride = packed ? 0 : view.strides[0];
    *this = Dense(packed ? 1 : view.shape[0], view.shape[token_axis], view.shape[head_axis], view.shape[dim_axis]);
    for (int64_t b = 0; b < batch; b++)
        for (int64_t token = 0; token < seqlen; token++)
            for (int64_t h = 0; h < heads; h++)
                read_elements(view, b * batch_stride + token * view.strides[token_axis] + h * view.strides[head_axis],
                              view.strides[dim_axis], dim, head(b, token, h));
}

std::vector<int64_t> shape_in(gyre_layout layout, int64_t batch, int64_t seqlen, int64_t heads, int64_t dim) {
    switch (layout) {
    case GYRE_BSHD:
        return {batch, seqlen, heads, dim};
    case GYRE_BHSD:
        return {batch, heads, seqlen, dim};
    case GYRE_THD:
        return {batch * seqlen, heads, dim};
    }
    return {};
}

} // namespace gyre::test
