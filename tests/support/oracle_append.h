/// What gyre_cache_append() should write, by its definition.
#pragma once
#include <gyre/gyre.h>

#include <vector>

namespace gyre::test {

/// A cache after the call, in C order of its shape. What is rotated may be off by the promised accuracy and the rounding of the
/// cache's type; what is copied or rounded, by nothing.
struct OracleAppended {
    std::vector<bool> written;
    std::vector<double> exact, allowed; // where it is written
};

OracleAppended oracle_appended_keys(const gyre_cache_append_args &args);
OracleAppended oracle_appended_values(const gyre_cache_append_args &args);

} // namespace gyre::test
