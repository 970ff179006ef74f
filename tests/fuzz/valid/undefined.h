/// Memory whose contents nobody may depend on, for valgrind's memcheck: a jump that depends on it, or a result that is made of it, is
/// told. Elsewhere this does nothing.
#pragma once
#include <cstddef>

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif

namespace gyre::fuzz {

inline void make_undefined([[maybe_unused]] void *memory, [[maybe_unused]] size_t bytes) {
#ifdef VALGRIND_MAKE_MEM_UNDEFINED
    VALGRIND_MAKE_MEM_UNDEFINED(memory, bytes);
#endif
}

} // namespace gyre::fuzz
