/// How the four dimensions of q, k, v, x and out stand in their files.
#pragma once

#include "console/command.h"
#include "files/array.h"

#include <optional>

namespace gyre::cli {

/// --layout bhsd|bshd
void add_layout(const Command &command, std::optional<gyre_layout> &layout);

/// "[batch, heads, seqlen, head_dim]" and the like.
const char *dimension_names(gyre_layout layout);

/// Sizes by name. Of packed sequences (thd) batch is 1 and seqlen is all tokens.
struct Extents {
    std::int64_t batch = 1;
    std::int64_t heads = 0;
    std::int64_t seqlen = 0;
    std::int64_t dim = 0;
};

/// Throws UsageError that blames subject unless the shape has as many dimensions as the layout.
Extents extents_of(const std::string &subject, gyre_layout layout, const Shape &shape);
Shape shape_of(gyre_layout layout, const Extents &extents);

} // namespace gyre::cli
