/// Garbage in keys and values that only some rows see, which must reach no other row.
#pragma once
#include "attention_case.h"

#include <functional>
#include <vector>

namespace gyre::test {

/// What a cache that was never written may hold, in this type.
std::vector<double> garbage_of(gyre_dtype type);

/// `key` and `value` stand in the features of these keys, in all heads.
struct Garbage {
    double key, value;
    std::vector<int64_t> keys;
};
void put(AttentionCase &c, const Garbage &garbage);

using RowSees = std::function<bool(int64_t i, int64_t j)>;

/// What the rows of a causal case with `window_left` see. The last query stands at the last key.
RowSees in_causal_window(const AttentionCase &c);

/// Rows that see none of `keys` must have the bits that they have without garbage there; in rows that see NaN no element of
/// out is a number. `c` holds no garbage yet. On every target, or on every device instead.
void check_garbage(AttentionCase &c, const RowSees &sees, const std::vector<int64_t> &keys, bool on_devices = false);

} // namespace gyre::test
