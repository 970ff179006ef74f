#include "tile_instruction.h"

#include <cstring>

namespace gyre::test {

bool Instruction::read(const uint8_t *at, const int64_t *values) {
    if (at[0] != 0xc4 || (at[1] & 0x1f) != 2 || at[2] & 0x84) return false;
    registers = values;
    prefix = at[2] & 3;
    third = (~at[2] >> 3) & 15;
    opcode = at[3];
    const int mode = at[4] >> 6;
    reg = (at[4] >> 3 & 7) | (~at[1] >> 4 & 8);
    rm = at[4] & 7;
    in_memory = mode != 3;
    end = at + 5;
    if (in_memory) read_address(mode, ~at[1] >> 3 & 8, ~at[1] >> 2 & 8, 1);
    return true;
}

bool Instruction::read_half_move(const uint8_t *at, const int64_t *values) {
    if (at[0] != 0x62 || (at[1] & 0x0f) != 5 || (at[2] & 3) != 1) return false;
    const bool of_register = at[5] >> 6 == 3;
    if (at[4] != (of_register ? 0x7e : 0x6e)) return false;
    registers = values;
    reg = (at[5] >> 3 & 7) | (~at[1] >> 4 & 8) | (~at[1] & 16);
    rm = at[5] & 7;
    loads_half = !of_register;
    takes_half = of_register;
    end = at + 6;
    if (of_register) {
        rm |= ~at[1] >> 2 & 8;
        return true;
    }
    read_address(at[5] >> 6, ~at[1] >> 3 & 8, ~at[1] >> 2 & 8, 2);
    return true;
}

void Instruction::read_address(int mode, int extended_index, int extended_base, int displacement_unit) {
    int base = rm;
    int64_t sum = 0;
    stride = 0;
    if (rm == 4) {
        const int scale = *end >> 6, index = (*end >> 3 & 7) | extended_index;
        base = *end++ & 7;
        if (index != 4) stride = static_cast<int64_t>(static_cast<uint64_t>(registers[index]) << scale);
    }
    const bool without_base = mode == 0 && base == 5;
    relative = without_base && rm == 5;
    if (!without_base) sum += registers[base | extended_base];
    if (mode == 1) {
        sum += static_cast<int8_t>(*end) * displacement_unit;
        end += 1;
    } else if (mode == 2 || without_base) {
        int32_t displacement;
        std::memcpy(&displacement, end, sizeof displacement);
        sum += displacement;
        end += 4;
    }
    if (relative) sum += reinterpret_cast<int64_t>(end);
    address = reinterpret_cast<uint8_t *>(sum);
}

} // namespace gyre::test
