/// Calls that verify a kernel of attention: lengths around its own tiles, masks, grouped heads, layouts, rotations.
#pragma once
#include "checked_attention.h"
#include "libraries.h"
#include "shape.h"

#include <functional>
#include <vector>

namespace gyre::tune {

/// The sizes at which a kernel's code changes its way.
struct Tiles {
    std::int64_t row_tile, task_rows, key_block, head_dim, least_head_dim;
    bool padded, general, partial, as_stored;

    explicit Tiles(const gyre_kernel_info &kernel)
        : row_tile(number_attribute(kernel, "row_tile", 16)), task_rows(number_attribute(kernel, "task_rows", 64)),
          key_block(number_attribute(kernel, "key_block", 64)), head_dim(number_attribute(kernel, "head_dim", 64)),
          least_head_dim(number_attribute(kernel, "least_head_dim", 1)), padded(attribute(kernel, "padded") == "true"),
          general(attribute(kernel, "general") == "true"), partial(attribute(kernel, "partial") == "true"),
          as_stored(attribute(kernel, "as_stored") == "true") {}
};

/// A call by its name, extents and what is set in its arguments.
struct AttentionCase {
    const char *what;
    Extents extents;
    gyre_layout layout;
    std::function<void(CheckedAttention &)> set;
};

std::vector<AttentionCase> plain_cases(const Tiles &t);
/// Few queries, whose keys are cut into parts.
std::vector<AttentionCase> decode_cases(const Tiles &t);
/// What the general family adds.
std::vector<AttentionCase> general_cases(const Tiles &t);
/// The lengths that are timed, with one head.
std::vector<AttentionCase> timed_cases(const Shape &shape);
/// Extents and masks at random.
AttentionCase random_case(const Tiles &t, std::uint64_t seed);

} // namespace gyre::tune
