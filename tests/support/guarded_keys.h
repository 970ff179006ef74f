/// Keys and values that end where memory does.
#pragma once
#include "attention_case.h"
#include "guarded_memory.h"

#include <cstring>

namespace gyre::test {

/// Checks a call with copies of its dense keys and values behind whose last element a read ends the program.
inline void check_at_end_of_memory(AttentionCase &c) {
    const auto bytes = [](const Tensor &rows) { return (size_t)rows.count() * (rows.dtype() == GYRE_F32 ? 4 : 2); };
    const GuardedMemory k(bytes(c.k)), v(bytes(c.v));
    c.args.k.data = std::memcpy(k.data(), c.args.k.data, bytes(c.k));
    c.args.v.data = std::memcpy(v.data(), c.args.v.data, bytes(c.v));
    c.check();
}

} // namespace gyre::test
