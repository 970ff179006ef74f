/// Vectors whose elements are used one by one, as lanes of a register.
#pragma once
#include <Halide.h>

namespace gyre {

/// Arranges that Funcs in MemoryType::Register that are stored once, whole vectors at constant places, become values instead
/// of memory, and what reads one element of them takes that lane: Halide lets such an allocation share the memory of others,
/// which LLVM then cannot keep in registers. Others are left as they are.
void keep_values_in_registers(Halide::Internal::GeneratorBase &generator);

} // namespace gyre
