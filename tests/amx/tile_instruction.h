/// Reads the instructions that emulated_tiles.cpp carries out.
#pragma once

#include <cstdint>

namespace gyre::test {

/// A VEX-encoded instruction of opcode map 0F38 without 256-bit operands, or VMOVW from memory or to a general register.
struct Instruction {
    const uint8_t *end;                 // of what was read so far
    const int64_t *registers;           // general ones, by their numbers
    int prefix, opcode, reg, rm, third; // prefix: 0 none, 1 66, 2 F3, 3 F2; third: the register named in the VEX prefix
    bool in_memory;
    bool loads_half;  // VMOVW from memory
    bool takes_half;  // VMOVW to a general register
    uint8_t *address; // of the operand in memory
    int64_t stride;   // the scaled index register: of tiles from row to row, else part of the address
    bool relative;    // the address is counted from the instruction's end

    bool read(const uint8_t *at, const int64_t *values);
    bool read_half_move(const uint8_t *at, const int64_t *values);
    void read_address(int mode, int extended_index, int extended_base, int displacement_unit);
};

} // namespace gyre::test
