/// Values of a cache in blocks of GYRE_VALUE_BLOCK tokens, [v_head_dim][GYRE_VALUE_BLOCK] each: gyre_value_order.
#pragma once
#include "core/tensor.h"

namespace gyre {

/// Errors: BAD_ARGUMENT, an order that is none.
gyre_status check_value_order(gyre_value_order order);

/// That these heads, in a cache or a pool of pages, can be in blocks. Errors: BAD_TYPE, BAD_SHAPE, which name them `name`.
gyre_status check_value_blocks(const Heads &values, const char *name);

/// Copies rows of bf16, [tokens][heads][dim] as they follow each other, to slots slot, slot + 1 … of a batch entry or page.
void store_value_blocks(const char *rows, const Heads &values, int64_t entry, int64_t slot, int64_t tokens);

} // namespace gyre
