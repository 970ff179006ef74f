// Operands of warpgroups in shared memory, for nvcc, and as it is for the tests' emulation: rows of 128 bytes, of which eight are a pattern of
// 1024 bytes in which 16 bytes of row r stand where exclusive-or with r puts them. Included by gyre_warpgroup.h.
#pragma once

// The descriptor by which wgmma finds 64 numbers a row. `leading`: bytes between neighbouring panels of 64 columns, where columns are
// neighbours. Fields in units of 16 bytes, by PTX ISA's matrix descriptor: start at bit 0, leading at 16, stride at 32, the layout at 62.
GYRE_FN uint64_t gyre_operand(const void *begin, int leading) {
    constexpr uint64_t stride = 1024, swizzling_of_128_bytes = 1;
    return (uint64_t)((gyre_shared_address(begin) & 0x3ffff) >> 4) | (uint64_t)(leading >> 4) << 16 |
           (stride >> 4) << 32 | swizzling_of_128_bytes << 62;
}

// The descriptor of what begins so many bytes further on: shared memory is smaller than what the first field reaches.
template <int Bytes>
GYRE_FN uint64_t gyre_operand_at(uint64_t operand) {
    static_assert(Bytes % 16 == 0 && Bytes >= 0, "a field in units of 16 bytes");
    return (operand >> 32 << 32) | ((uint32_t)operand + Bytes / 16);
}

// Rows of Columns numbers of 16 bits, as panels of 64 columns of all rows, for the guard (gyre_guard.h): indices are those of dense rows.
template <int Columns, int Rows>
struct gyre_swizzled_rows {};
template <class T, int Columns, int Rows>
GYRE_FN void gyre_load_tiles_transposed(uint32_t *to, const gyre_swizzled_rows<Columns, Rows> *memory, int i) {
    const int row = i / Columns, column = i % Columns;
    gyre_load_tiles_transposed<T>(to, (const T *)memory, (column / 64 * Rows + row) * 64 + (column % 64 ^ row % 8 * 8));
}

// Whether a tile of Rows x Columns numbers, in rows Stride apart, holds one that is not finite, as gyre_any_not_finite(). Asked by the first Threads
// threads of a block, which wait for each other.
template <int Threads, class T, int Rows, int Columns, int Stride, int Warps, class Declared>
GYRE_FN int gyre_sync_of_or_flawed(const Declared *memory, int first) {
    constexpr int numbers = 16 / (int)sizeof(T), of_row = Columns / numbers, pieces = Rows * of_row;
    static_assert(Threads == 32 * Warps, "all of these threads ask");
    uint32_t found = 0;
#pragma unroll
    for (int piece = GYRE_THREAD_Y * 32 + GYRE_LANE; piece < pieces; piece += Threads) {
        uint32_t words[4];
        const int at = first + piece / of_row * Stride + piece % of_row * numbers;
        gyre_shared_load_vector<4>(words, memory, at * (int)sizeof(T) / 4);
#pragma unroll
        for (int i = 0; i < 4; i++) found |= gyre_not_finite<T>(words[i]);
    }
    return gyre_sync_or_of<Threads>((found & gyre_pair<T>::signs) != 0);
}
