/// Puts a jump in place of machine code, so that what would trap each time traps once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gyre::test {

/// The registers of the interrupted code, by their numbers in instructions: 16 general ones, and 32 vectors. But for the stack pointer they go
/// back as they are left here.
struct Registers {
    int64_t *general;
    uint8_t (*vectors)[64];
};

/// Called instead of the code, with `what` as given to patch_code(). All other registers are afterwards as they were before.
using PatchRoutine = void (*)(const void *what, const Registers &registers);

constexpr size_t jump_bytes = 5;

/// Makes the code at `at`, an instruction of at least jump_bytes, call the routine and go on at `next`. Returns false, and changes
/// nothing, while the process has several threads, of which one might be reading the instruction, and where memory is refused.
bool patch_code(uint8_t *at, const uint8_t *next, PatchRoutine routine, const void *what);

/// Changes one byte of code. Returns false, and changes nothing, where memory is refused.
bool patch_byte(uint8_t *at, uint8_t value);

} // namespace gyre::test
