/// A view's elements as packed doubles [batch, seqlen, heads, dim], whatever its type, layout and strides.
#pragma once
#include <gyre/gyre.h>

#include <cstdint>
#include <vector>

namespace gyre::test {

struct Dense {
    int64_t batch = 0, seqlen = 0, heads = 0, dim = 0;
    std::vector<double> data;

    Dense() = default;
    Dense(int64_t batch, int64_t seqlen, int64_t heads, int64_t dim)
        : batch(batch), seqlen(seqlen), heads(heads), dim(dim), data((size_t)(batch * seqlen * heads * dim)) {}
    /// thd has one batch entry that holds all tokens.
    Dense(const gyre_tensor &view, gyre_layout layout);

    double *head(int64_t b, int64_t token, int64_t h) { return data.data() + ((b * seqlen + token) * heads + h) * dim; }
    const double *head(int64_t b, int64_t token, int64_t h) const {
        return const_cast<Dense *>(this)->head(b, token, h);
    }
};

/// The shape that a tensor of these extents has in `layout`.
std::vector<int64_t> shape_in(gyre_layout layout, int64_t batch, int64_t seqlen, int64_t heads, int64_t dim);

} // namespace gyre::test
