/// Checks of the lists that tell where sequences are: their lengths, their bounds in packed tokens, their pages.
#pragma once
#include "gyre/gyre.h"

#include <cstdint>

namespace gyre {

/// A contiguous list of `count` int32; of any length, if that is negative.
gyre_status check_list(const gyre_tensor &t, const char *name, int64_t count, bool need_data, const int32_t **list);

/// cu_seqlens: `count` numbers from 0 to `total`, none below the one before.
gyre_status check_cumulative(const int32_t *cu, const char *name, int64_t count, int64_t total);

/// The bounds of packed sequences within `total` tokens, and how many sequences there are.
gyre_status check_bounds(const gyre_tensor &t, const char *name, int64_t total, bool need_data, const int32_t **bounds,
                         int64_t *sequences);

/// A power of two, whose exponent is stored. `pool` names the tensor that has pages of this size.
gyre_status check_page_size(int64_t page_size, const char *pool, int *bits);

/// Entries [first, end) of row `row` of a page table are pages of a pool that has `pages`.
gyre_status check_page_ids(const int32_t *entries, int64_t row, int64_t first, int64_t end, int64_t pages);

} // namespace gyre
