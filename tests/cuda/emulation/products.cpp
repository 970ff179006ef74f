// Products of a warp: most of an emulated kernel's time.
#include "gyre_device.h"

namespace gyre::emulation {

// By the layouts of fragments that PTX ISA 8.0 shows in section 9.7.13.4.8.
template <class T>
void multiply_tiles(const Lane (&lanes)[32]) {
    double a[16][16], b[16][8];
    const auto number = [](uint32_t word, int half) { return gyre_cast<float>(T{(uint16_t)(word >> 16 * half)}); };
    for (int lane = 0; lane < 32; lane++) {
        const auto &f = *(const Factors *)lanes[lane].in;
        const int group = lane / 4, first = lane % 4 * 2;
        for (int half = 0; half < 2; half++) {
            for (int word = 0; word < 4; word++)
                a[group + word % 2 * 8][first + word / 2 * 8 + half] = number(f.a[word], half);
            for (int word = 0; word < 2; word++) b[first + word * 8 + half][group] = number(f.b[word], half);
        }
    }
    const auto sum = [&](int row, int column) -> float & {
        return ((float *)lanes[row % 8 * 4 + column / 2].out)[row / 8 * 2 + column % 2];
    };
    for (int row = 0; row < 16; row++) {
        double sums[8];
        for (int column = 0; column < 8; column++) sums[column] = sum(row, column);
        for (int k = 0; k < 16; k++)
            for (int column = 0; column < 8; column++) sums[column] += a[row][k] * b[k][column];
        for (int column = 0; column < 8; column++) sum(row, column) = (float)sums[column];
    }
}

template void multiply_tiles<gyre_bf16>(const Lane (&)[32]);
template void multiply_tiles<gyre_f16>(const Lane (&)[32]);

} // namespace gyre::emulation
