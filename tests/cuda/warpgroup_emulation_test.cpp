/// The emulation of warpgroups: that a product comes out right, that each thing which a kernel may forget is caught, and where descriptors
/// find an operand.
#include "gyre_warpgroup.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using gyre::emulation::violations;

namespace {

constexpr int depth = 16, columns = 128, rows = 64, panel = 64, threads_of_group = 128, shared_bytes = 32 << 10;

/// What a kernel forgets or does wrong.
enum Fault {
    none,
    fence_of_proxy,
    fence_after_barrier,
    fence_of_registers,
    wait,
    early_change,
    early_write,
    other_warp,
    reserved_bit,
    other_layout,
    within_pattern,
    changed_factor
};
Fault fault = none;

/// Where element (k, column) of b is, by the canonical layouts, in numbers: apart from the emulation's own reading.
int place(bool transposed, int k, int column) {
    const int row = transposed ? k : column, along = transposed ? column : k;
    const int panels = along / panel * (transposed ? depth : columns) * panel;
    return panels + row * panel + ((along % panel / 8) ^ (row % 8)) * 8 + along % 8;
}

float number(int i, int j) { return (float)((i * 7 + j * 3) % 11) / 8 - 0.5f; }

/// c = a b by one warpgroup: out[row][column].
template <bool Transposed>
void product(float *out) {
    gyre_bf16 *const b = (gyre_bf16 *)GYRE_SHARED_MEMORY;
    const int thread = GYRE_THREAD_Y * 32 + GYRE_LANE;
    for (int k = 0; k < depth; k++)
        gyre_shared_store(b, place(Transposed, k, thread), gyre_cast<gyre_bf16>(number(k, thread)));
    if (fault != fence_of_proxy && fault != fence_after_barrier) gyre_fence_async_proxy();
    GYRE_SYNC();
    if (fault == fence_after_barrier) gyre_fence_async_proxy();
    uint32_t a[4];
    for (int word = 0; word < 4; word++) {
        const int row = GYRE_THREAD_Y * 16 + GYRE_LANE / 4 + word % 2 * 8, k = GYRE_LANE % 4 * 2 + word / 2 * 8;
        a[word] = gyre_pack<gyre_bf16>(number(row, k), number(row, k + 1));
    }
    float c[columns / 2] = {};
    if (fault != fence_of_registers) gyre_warpgroup_fence();
    uint64_t operand =
        gyre_operand(b + (fault == other_warp && GYRE_THREAD_Y == 3 ? 512 : 0) + (fault == within_pattern ? 64 : 0),
                     Transposed ? depth * panel * 2 : 16);
    if (fault == reserved_bit) operand |= uint64_t{1} << 46;
    if (fault == other_layout) operand ^= uint64_t{3} << 62;
    gyre_warpgroup_multiply<gyre_bf16, columns, Transposed>(c, a, operand);
    gyre_warpgroup_commit();
    if (fault == early_change) c[5] = 1;
    if (fault == changed_factor) a[1] = 0;
    if (fault == early_write) gyre_shared_store(b, place(Transposed, 0, thread), gyre_cast<gyre_bf16>(0.0f));
    if (fault != wait) gyre_warpgroup_wait<0>();
    for (int i = 0; i < columns / 2; i++)
        out[(GYRE_THREAD_Y * 16 + GYRE_LANE / 4 + i % 4 / 2 * 8) * columns + i / 4 * 8 + GYRE_LANE % 4 * 2 + i % 2] =
            c[i];
}
void along_depth(float *out) { product<false>(out); }
void along_columns(float *out) { product<true>(out); }
GYRE_COOPERATIVE_ENTRY(along_depth)
GYRE_COOPERATIVE_ENTRY(along_columns)

/// Violations, and the largest error.
std::pair<long, double> run(const char *name, Fault of) {
    std::vector<float> out((size_t)(rows * columns), NAN);
    float *pointer = out.data();
    void *arguments[] = {&pointer};
    fault = of;
    const long before = violations();
    gyre::emulation::run_grid(*gyre::emulation::find_entry(name), {1, 1, 1}, {32, threads_of_group / 32, 1},
                              shared_bytes, arguments);
    double error = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            double sum = 0;
            for (int k = 0; k < depth; k++) sum += (double)number(i, k) * number(k, j);
            const double difference = std::fabs(sum - out[(size_t)(i * columns + j)]);
            if (!(difference <= error)) error = std::isnan(difference) ? INFINITY : difference;
        }
    return {violations() - before, error};
}

} // namespace

TEST_CASE("emulation: products of a warpgroup come out right, with either neighbours in shared memory") {
    for (const char *name : {"along_depth", "along_columns"}) {
        const auto [wrong, error] = run(name, none);
        CHECK(wrong == 0);
        CHECK(error < 1e-5);
    }
}

TEST_CASE("emulation: fences, waits and descriptors that a product of a warpgroup lacks are caught") {
    for (const char *name : {"along_depth", "along_columns"})
        for (const Fault each : {fence_of_proxy, fence_after_barrier, fence_of_registers, wait, early_change,
                                 early_write, other_warp, reserved_bit, other_layout, within_pattern, changed_factor}) {
            CAPTURE(name);
            CAPTURE((int)each);
            CHECK(run(name, each).first > 0);
        }
    CHECK(std::isinf(run("along_depth", wait).second)); // of NaN
}

TEST_CASE("emulation: descriptors are read bit by bit, and find what PTX ISA's canonical layouts say") {
    const gyre::emulation::MatrixDescriptor d(uint64_t{0x1234} | uint64_t{0x0040} << 16 | uint64_t{0x0080} << 32 |
                                              uint64_t{5} << 49 | uint64_t{1} << 62);
    CHECK(d.start == 0x12340);
    CHECK(d.leading == 0x400);
    CHECK(d.stride == 0x800);
    CHECK(d.base_offset == 5);
    CHECK(d.swizzle == 1);
    CHECK(d.reserved == 0);
    // {transposed, depth, column, address}, of an operand at 2048 with strides of 1024 and panels 4096 apart.
    struct Fact {
        bool transposed;
        int depth, column;
        uint32_t address;
    };
    const gyre::emulation::MatrixDescriptor of(uint64_t{2048 >> 4} | uint64_t{4096 >> 4} << 16 |
                                               uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62);
    for (const Fact &f : {Fact{false, 0, 0, 2048},
                          {false, 0, 1, 2048 + 128 + 16},
                          {false, 8, 1, 2048 + 128},
                          {false, 8, 3, 2048 + 3 * 128 + 2 * 16},
                          {false, 0, 7, 2048 + 7 * 128 + 7 * 16},
                          {false, 0, 8, 2048 + 1024},
                          {true, 0, 8, 2048 + 16},
                          {true, 1, 0, 2048 + 128 + 16},
                          {true, 1, 8, 2048 + 128},
                          {true, 8, 0, 2048 + 1024},
                          {true, 5, 64, 2048 + 4096 + 5 * 128 + 5 * 16}})
        CHECK(gyre::emulation::place_of(of, f.transposed, f.depth, f.column) == f.address);
}
