/// Rows of a caller's tables of cosines and sines, of any floating-point type and strides.
#pragma once
#include "rotary/rotation.h"

namespace gyre {

/// Writes one row of a checked table, as f32. `row` is a position, or of a table with a row a token that token of a batch entry;
/// a table of one batch entry serves all.
void copy_table_row(const gyre_tensor &table, int64_t batch, int64_t row, int pairs, float *to);

/// Refuses tables that kernels of CUDA devices do not read: `name` is of the rope. Errors: UNSUPPORTED.
gyre_status check_device_tables(const Rotation &rotation, const char *name);

} // namespace gyre
