#include "warpgroups.h"

#include "shared.h"
#include "threads.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace gyre::emulation {
namespace {

constexpr int lanes_of_warp = 32, warps_of_group = 4, rows = 16, depth = 16, neighbours = 8;
constexpr uint32_t poison = 0xffffffff; // NaN

/// Sums of a lane that its registers do not have yet.
struct Sums {
    float *registers;
    std::vector<float> values;
    int group;
};
/// The left operand of a lane, which its registers must keep.
struct Factor {
    const uint32_t *registers;
    uint32_t words[4];
    int group;
};
struct Reading {
    size_t place;
    int group;
};
struct Warp {
    std::vector<Sums> sums;
    std::vector<Factor> factors;
    std::vector<Reading> readings;
    std::vector<uint64_t> said; // what was asked of the warpgroup, in order
    int group = 0;
    bool is_fenced = false;
};
std::vector<Warp> warps;

Warp &running_warp() { return warps[running_thread() / lanes_of_warp]; }

/// All warps of a warpgroup do the same.
void say(uint64_t what) {
    const size_t warp = running_thread() / lanes_of_warp, first = warp / warps_of_group * warps_of_group;
    if (first + warps_of_group > warps.size()) return violation("a warpgroup has fewer than four warps");
    const size_t turn = warps[warp].said.size();
    for (size_t other = first; other < first + warps_of_group; other++)
        if (warps[other].said.size() > turn && warps[other].said[turn] != what)
            return violation("warps of a warpgroup do different things");
    warps[warp].said.push_back(what);
}

/// A factor in shared memory: `columns` along it, of which the warp reads `count` from `first`.
struct Operand {
    uint64_t descriptor;
    bool transposed;
    int first, count;
};

/// operand(depth, column); false: some of it is nowhere.
bool read_operand(const Operand &operand, float (*number)(uint16_t), Warp &warp, std::vector<float> *to) {
    const MatrixDescriptor d(operand.descriptor);
    constexpr int swizzle_of_128_bytes = 1;
    constexpr uint32_t pattern = 1024;
    if (d.reserved) violation("a descriptor has bits that must be 0");
    if (d.swizzle != swizzle_of_128_bytes || d.base_offset)
        violation("a descriptor asks for a layout that is not emulated");
    if (d.start % pattern >= 128) violation("a descriptor begins within a pattern of 1024 bytes");
    const int along = operand.transposed ? operand.count : depth, across = operand.transposed ? depth : operand.count;
    for (int i = 0; i < across; i++)
        for (int first = 0; first < along; first += neighbours) {
            const uint32_t address = operand.transposed ? place_of(d, true, i, operand.first + first)
                                                        : place_of(d, false, first, operand.first + i);
            if (address < shared_window) return violation("a descriptor is of memory before the block's"), false;
            const size_t place = address - shared_window;
            const unsigned char *const at = begin_product(place);
            if (!at) return false;
            warp.readings.push_back({place, warp.group});
            for (int n = 0; n < neighbours; n++) {
                uint16_t bits;
                std::memcpy(&bits, at + 2 * n, 2);
                const int k = operand.transposed ? i : first + n, column = operand.transposed ? first + n : i;
                (*to)[static_cast<size_t>(k * operand.count + column)] = number(bits);
            }
        }
    return true;
}

/// The lane's sums that products of the same warpgroup have begun; poisons them if none has.
std::vector<float> &sums_of(Warp &warp, const WarpgroupProduct &product) {
    const auto count = static_cast<size_t>(product.columns / 2);
    for (Sums &s : warp.sums)
        if (s.registers == product.sums) {
            if (s.values.size() != count) violation("products of several shapes share their sums");
            s.group = warp.group;
            s.values.resize(count);
            return s.values;
        }
    warp.sums.push_back({product.sums, std::vector<float>(product.sums, product.sums + count), warp.group});
    std::fill_n(reinterpret_cast<uint32_t *>(product.sums), count, poison);
    return warp.sums.back().values;
}

/// The left operand of 16 rows that lanes hold.
void read_registers(const Lane (&lanes)[32], Warp &warp, std::vector<float> *a) {
    for (int lane = 0; lane < lanes_of_warp; lane++) {
        const auto of = *static_cast<const WarpgroupProduct *>(lanes[lane].in);
        Factor factor{of.a, {}, warp.group};
        for (int word = 0; word < 4; word++) {
            factor.words[word] = of.a[word];
            for (int pair = 0; pair < 2; pair++)
                (*a)[static_cast<size_t>((lane / 4 + word % 2 * 8) * depth + lane % 4 * 2 + word / 2 * 8 + pair)] =
                    of.number(static_cast<uint16_t>(of.a[word] >> 16 * pair));
        }
        warp.factors.push_back(factor);
    }
}

} // namespace

MatrixDescriptor::MatrixDescriptor(uint64_t bits) {
    const auto field = [&](int first, int count) { return static_cast<uint32_t>(bits >> first & ((1u << count) - 1)); };
    start = field(0, 14) << 4;
    leading = field(16, 14) << 4;
    stride = field(32, 14) << 4;
    base_offset = static_cast<int>(field(49, 3));
    swizzle = static_cast<int>(field(62, 2));
    reserved = field(14, 2) | field(30, 2) | field(46, 3) | field(52, 10);
}

// In units of 16 bytes, which hold T = 8 numbers, the canonical layouts of 128-byte swizzling are
//     depth as neighbours     ((8, m), (T, 2 k)) : ((8 T, stride), (1, T))
//     columns as neighbours   ((T, 8, m), (8, k)) : ((1, T, leading), (8 T, stride))
// and then bits 4 to 6 of the address are exclusive-ored with bits 7 to 9.
uint32_t place_of(const MatrixDescriptor &d, bool transposed, int k, int column) {
    const auto u = [](int number) { return static_cast<uint32_t>(number); };
    constexpr int bytes = 2, row_bytes = 128, of_row = row_bytes / bytes;
    const uint32_t linear = transposed ? u(column % of_row * bytes) + u(column / of_row) * d.leading +
                                             u(k % 8 * row_bytes) + u(k / 8) * d.stride
                                       : u(column % 8 * row_bytes) + u(column / 8) * d.stride + u(k * bytes);
    const uint32_t address = d.start + linear;
    return address ^ (address >> 3 & 0x70);
}

void begin_warpgroups(size_t threads) { warps.assign((threads + lanes_of_warp - 1) / lanes_of_warp, Warp()); }

void end_warpgroups() {
    for (size_t warp = 0; warp < warps.size(); warp++) {
        if (!warps[warp].sums.empty()) violation("a kernel ends before products of its warpgroups were waited for");
        if (warps[warp].said.size() != warps[warp / warps_of_group * warps_of_group].said.size())
            violation("some warps of a warpgroup leave out what others do");
    }
    warps.clear();
}

void fence_warpgroup(const Lane (&)[32]) {
    say(1);
    running_warp().is_fenced = true;
}

void multiply_warpgroup(const Lane (&lanes)[32]) {
    Warp &warp = running_warp();
    const auto product = [&](int lane) { return *static_cast<const WarpgroupProduct *>(lanes[lane].in); };
    const WarpgroupProduct first = product(0);
    say(first.descriptor);
    if (!first.a) say(first.rows);
    if (!warp.is_fenced) violation("a product of a warpgroup is not fenced from what has touched its registers");
    std::vector<float> a(rows * depth), b(static_cast<size_t>(depth * first.columns), 0.0f);
    bool is_there = true;
    if (first.a) {
        read_registers(lanes, warp, &a);
    } else {
        const int warp_of_group = static_cast<int>(running_thread() / lanes_of_warp % warps_of_group);
        std::vector<float> of_depth(rows * depth, 0.0f);
        is_there = read_operand({first.rows, false, warp_of_group * rows, rows}, first.number, warp, &of_depth);
        for (size_t i = 0; i < of_depth.size(); i++) a[i % rows * depth + i / rows] = of_depth[i];
    }
    is_there = read_operand({first.descriptor, first.transposed, 0, first.columns}, first.number, warp, &b) && is_there;
    for (int lane = 0; lane < lanes_of_warp; lane++)
        if (product(lane).descriptor != first.descriptor || product(lane).rows != first.rows)
            violation("lanes of a warp have different descriptors");
    for (int lane = 0; lane < lanes_of_warp; lane++) {
        std::vector<float> &sums = sums_of(warp, product(lane));
        for (size_t i = 0; i < sums.size(); i++) {
            const size_t row = static_cast<size_t>(lane) / 4 + i % 4 / 2 * 8,
                         column = i / 4 * 8 + static_cast<size_t>(lane) % 4 * 2 + i % 2;
            double sum = sums[i];
            for (size_t k = 0; k < depth; k++)
                sum += static_cast<double>(a[row * depth + k]) * b[k * static_cast<size_t>(first.columns) + column];
            sums[i] = is_there ? static_cast<float>(sum) : sums[i];
        }
    }
}

void commit_warpgroup(const Lane (&)[32]) {
    say(2);
    running_warp().group++;
    running_warp().is_fenced = false;
}

void wait_for_warpgroup(const Lane (&lanes)[32]) {
    const int left = *static_cast<const int *>(lanes[0].in);
    say(3 + static_cast<uint64_t>(left));
    Warp &warp = running_warp();
    const auto is_over = [&](const auto &what) { return what.group < warp.group - left; };
    for (const Sums &s : warp.sums) {
        if (!is_over(s)) continue;
        for (size_t i = 0; i < s.values.size(); i++) {
            uint32_t held;
            std::memcpy(&held, s.registers + i, sizeof held);
            if (held != poison) violation("sums of a product of a warpgroup are touched before they were waited for");
            s.registers[i] = s.values[i];
        }
    }
    for (const Factor &f : warp.factors)
        if (is_over(f) && std::memcmp(f.words, f.registers, sizeof f.words) != 0)
            violation("the left operand of a product of a warpgroup is touched before that was waited for");
    for (const Reading &r : warp.readings)
        if (is_over(r)) end_product(r.place);
    const auto forget = [&](auto &all) { all.erase(std::remove_if(all.begin(), all.end(), is_over), all.end()); };
    forget(warp.sums);
    forget(warp.factors);
    forget(warp.readings);
}

} // namespace gyre::emulation
