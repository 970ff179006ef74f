/// AMX's matrix tiles for processors without them: tile instructions trap as illegal ones, and are carried out here. From then on a jump
/// stands in their place (patched_code.h), since a signal takes longer than most of them. So it is with VMOVW of AVX512_FP16, by which these
/// kernels load single numbers of 16 bits and take them out of vectors.
///
/// Sources: Intel's Software Developer's Manual, volume 2 (encodings; TDPBF16PS: denormal inputs and results are zero, rounding to
/// nearest even, even and odd elements of a pair summed apart) and volume 1, chapters 13 (the registers' places in memory) and 18 (the
/// configuration's 64 bytes).
#include "patched_code.h"
#include "tile_instruction.h"

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <cpuid.h>
#include <immintrin.h>
#include <ucontext.h>

namespace {

using gyre::test::Instruction;

constexpr int most_tiles = 8, most_rows = 16, row_bytes = 64;

struct Tile {
    int rows, bytes; // of a row
    alignas(64) uint8_t data[most_rows][row_bytes];
};

thread_local Tile tiles[most_tiles];

/// General registers by their numbers in instructions.
constexpr int by_number[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                               REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

void configure(const uint8_t *from) {
    for (int t = 0; t < most_tiles; t++) {
        uint16_t bytes;
        std::memcpy(&bytes, from + 16 + 2 * t, sizeof bytes);
        tiles[t] = Tile{};
        tiles[t].rows = from[48 + t];
        tiles[t].bytes = bytes;
    }
}

float even_element(uint32_t pair) {
    const uint32_t bits = pair << 16;
    float number;
    std::memcpy(&number, &bits, sizeof number);
    return number;
}

float odd_element(uint32_t pair) {
    const uint32_t bits = pair & 0xffff0000u;
    float number;
    std::memcpy(&number, &bits, sizeof number);
    return number;
}

/// sum += left * right, pairs of bf16 along the left's rows.
void multiply(Tile &sum, const Tile &left, const Tile &right) {
    constexpr int words = row_bytes / 4;
    for (int m = 0; m < sum.rows; m++) {
        float even[words] = {}, odd[words] = {};
        for (int k = 0; k < left.bytes / 4; k++) {
            uint32_t pair, others[words];
            std::memcpy(&pair, left.data[m] + 4 * k, sizeof pair);
            std::memcpy(others, right.data[k], sizeof others);
            const float a = even_element(pair), b = odd_element(pair);
            for (int n = 0; n < words; n++) {
                even[n] += a * even_element(others[n]);
                odd[n] += b * odd_element(others[n]);
            }
        }
        float row[words];
        std::memcpy(row, sum.data[m], sizeof row);
        for (int n = 0; n < sum.bytes / 4; n++) row[n] += even[n] + odd[n];
        std::memcpy(sum.data[m], row, sizeof row);
    }
}

bool carry_out(const Instruction &i) {
    if (i.opcode == 0x49) {
        if (i.prefix == 0 && i.in_memory) {
            configure(i.address);
        } else if (i.prefix == 0 && i.rm == 0) { // tilerelease
            for (Tile &tile : tiles) tile = Tile{};
        } else if (i.prefix == 3 && !i.in_memory) {
            std::memset(tiles[i.reg & 7].data, 0, sizeof tiles[0].data);
        } else {
            return false;
        }
        return true;
    }
    Tile &tile = tiles[i.reg & 7];
    if (i.opcode == 0x4b && i.in_memory && (i.prefix == 1 || i.prefix == 3)) { // loads, with and without a hint
        std::memset(tile.data, 0, sizeof tile.data);
        for (int r = 0; r < tile.rows; r++) std::memcpy(tile.data[r], i.address + r * i.stride, tile.bytes);
        return true;
    }
    if (i.opcode == 0x4b && i.in_memory && i.prefix == 2) {
        for (int r = 0; r < tile.rows; r++) std::memcpy(i.address + r * i.stride, tile.data[r], tile.bytes);
        return true;
    }
    if (i.opcode == 0x5c && !i.in_memory && i.prefix == 2) {
        multiply(tile, tiles[i.rm], tiles[i.third & 7]);
        return true;
    }
    return false;
}

/// Parts of the state that XSAVE writes, by their numbers.
enum StatePart { sse = 1, upper_ymm = 2, upper_zmm = 6, upper_registers = 7 };

/// Writes one number of 16 bits into a vector register of the interrupted code, and zeros above.
void set_vector(fpregset_t state, int number, uint16_t value) {
    auto *bytes = reinterpret_cast<uint8_t *>(state);
    uint64_t in_use;
    std::memcpy(&in_use, bytes + 512, sizeof in_use);
    const auto write = [&](StatePart part, size_t at_least, size_t offset, size_t size) {
        unsigned length = 0, from = 0, unused;
        if (part == sse) {
            from = 160;
            length = 256;
        } else
            __get_cpuid_count(0xd, part, &length, &from, &unused, &unused);
        if (!(in_use >> part & 1)) std::memset(bytes + from, 0, length);
        in_use |= uint64_t{1} << part;
        std::memset(bytes + from + offset, 0, size);
        std::memcpy(bytes + from + offset, &value, at_least);
    };
    if (number < 16) {
        write(sse, sizeof value, static_cast<size_t>(number) * 16, 16);
        write(upper_ymm, 0, static_cast<size_t>(number) * 16, 16);
        write(upper_zmm, 0, static_cast<size_t>(number) * 32, 32);
    } else {
        write(upper_registers, sizeof value, static_cast<size_t>(number - 16) * 64, 64);
    }
    std::memcpy(bytes + 512, &in_use, sizeof in_use);
}

/// The lowest number of 16 bits of a vector register.
uint16_t low_half(fpregset_t state, int number) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(state);
    uint64_t in_use;
    std::memcpy(&in_use, bytes + 512, sizeof in_use);
    unsigned length = 0, from = 160, unused;
    const StatePart part = number < 16 ? sse : upper_registers;
    if (part != sse) __get_cpuid_count(0xd, part, &length, &from, &unused, &unused);
    if (!(in_use >> part & 1)) return 0; // as it was initialised
    uint16_t value;
    std::memcpy(&value, bytes + from + static_cast<size_t>(number % 16) * (number < 16 ? 16 : 64), sizeof value);
    return value;
}

/// Vector registers where XSAVE has written them.
struct SavedVectors {
    fpregset_t state;
    void set(int number, uint16_t value) const { set_vector(state, number, value); }
    uint16_t get(int number) const { return low_half(state, number); }
};

/// Vector registers where patched code has written them.
struct StoredVectors {
    uint8_t (*vectors)[64];
    void set(int number, uint16_t value) const {
        std::memset(vectors[number], 0, sizeof vectors[number]);
        std::memcpy(vectors[number], &value, sizeof value);
    }
    uint16_t get(int number) const {
        uint16_t value;
        std::memcpy(&value, vectors[number], sizeof value);
        return value;
    }
};

constexpr unsigned int tile_rounding = 0x1f80 | _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON;

/// Carries out the instruction at `at`, if it is one of these. Returns false if not.
template <typename Vectors>
bool step(const uint8_t *at, int64_t *general, const Vectors &vectors, Instruction &i) {
    i = {};
    if (i.read(at, general)) return carry_out(i);
    if (!i.read_half_move(at, general)) return false;
    if (i.takes_half) {
        general[i.rm] = vectors.get(i.reg);
        return true;
    }
    uint16_t number;
    std::memcpy(&number, i.address + i.stride, sizeof number);
    vectors.set(i.reg, number);
    return true;
}

/// Instructions that follow one another.
using Sequence = std::vector<const uint8_t *>;

void run_sequence(const void *what, const gyre::test::Registers &registers) {
    _mm_setcsr(tile_rounding);
    Instruction i;
    for (const uint8_t *at : *static_cast<const Sequence *>(what))
        step(at, registers.general, StoredVectors{registers.vectors}, i);
}

/// Puts a jump in the place of the first instruction of a sequence that ends at `end`.
void replace(Sequence sequence, const uint8_t *end) {
    const uint8_t *const first = sequence.front();
    auto *copy = new uint8_t[end - first]; // as long as the code is
    std::memcpy(copy, first, end - first);
    for (const uint8_t *&place : sequence) place = copy + (place - first);
    const auto *kept = new Sequence(std::move(sequence));
    if (gyre::test::patch_code(const_cast<uint8_t *>(first), end, run_sequence, kept)) return;
    delete kept;
    delete[] copy;
}

/// Makes VCVTPH2PSX of AVX512-FP16, with which bf16 kernels read biases in f16, VCVTPH2PS. Returns false if it is not there.
bool replace_widening(uint8_t *at) {
    constexpr uint8_t maps = 7, map_of_fp16 = 6, map_of_avx512 = 2, opcode = 0x13;
    const bool has_prefix = at[0] == 0x62 && (at[2] & 0x83) == 0x01 && !(at[3] & 0x10); // EVEX, W0, 66; no broadcast
    if (!has_prefix || (at[1] & maps) != map_of_fp16 || at[4] != opcode) return false;
    return gyre::test::patch_byte(at + 1, (at[1] & ~maps) | map_of_avx512);
}

void on_illegal_instruction(int, siginfo_t *, void *context) {
    _mm_setcsr(tile_rounding); // the interrupted code's comes back with its registers
    auto &machine = static_cast<ucontext_t *>(context)->uc_mcontext;
    int64_t general[16];
    for (int n = 0; n < 16; n++) general[n] = machine.gregs[by_number[n]];
    const auto *at = reinterpret_cast<const uint8_t *>(machine.gregs[REG_RIP]);
    Sequence sequence;
    bool movable = true;
    for (Instruction i; step(at, general, SavedVectors{machine.fpregs}, i); at = i.end) {
        movable &= !i.relative;
        sequence.push_back(at);
    }
    if (!sequence.empty()) {
        for (int n = 0; n < 16; n++) machine.gregs[by_number[n]] = general[n];
        machine.gregs[REG_RIP] = reinterpret_cast<greg_t>(at);
        if (movable) replace(std::move(sequence), at);
        return;
    }
    if (replace_widening(const_cast<uint8_t *>(at))) return;
    std::fprintf(stderr, "emulated tiles: no such instruction: %02x %02x %02x %02x %02x %02x\n", at[0], at[1], at[2],
                 at[3], at[4], at[5]);
    std::signal(SIGILL, SIG_DFL);
}

} // namespace

extern "C" {

int __real_sigaction(int signal, const struct sigaction *action, struct sigaction *before);

/// The linker's name for sigaction() in this program: doctest's handlers leave illegal instructions alone.
int __wrap_sigaction(int signal, const struct sigaction *action, struct sigaction *before) {
    return signal == SIGILL ? 0 : __real_sigaction(signal, action, before);
}

__attribute__((constructor)) void emulate_tiles() {
    struct sigaction action{};
    action.sa_sigaction = on_illegal_instruction;
    action.sa_flags = SA_SIGINFO;
    __real_sigaction(SIGILL, &action, nullptr);
}
}
