/// Layouts of tensor cores, against those of CuTe, CUTLASS's library of layouts: products whose operands and sums are where CuTe says come
/// out right in the emulation, by CuTe's descriptors, which are those that kernels form.
///
/// CuTe's headers are NVIDIA's own description of these instructions, apart from the text that the emulation was written from.
#include "gyre_warpgroup.h"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

// CuTe asks a device where memory is in its block's window. Here the emulation answers.
#define CUTE_CVTA_GENERIC_TO_SHARED_ACTIVATED 1
static size_t __cvta_generic_to_shared(const void *memory) { return gyre_shared_address(memory); }
#include <cute/tensor.hpp>

#include <cute/atom/mma_traits_sm80.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>

namespace gmma = cute::SM90::GMMA;
using cute::Int, cute::Shape, cute::Step;
using gyre::emulation::violations;

namespace {

constexpr int depth = 16, rows = 64, keys = 64, panel = 64, threads_of_group = 128, shared_bytes = 64 << 10;

constexpr uint64_t leading_bits = uint64_t{0x3fff} << 16;

float number(int i, int j) { return (float)((i * 7 + j * 3) % 11) / 8 - 0.5f; }

constexpr gmma::Major major_of(bool transposed) { return transposed ? gmma::Major::MN : gmma::Major::K; }

/// The number (column, k) of right operands for all keys: along the depth 64 numbers a row, or rows of 64 columns, panel after panel.
template <bool Transposed, int Columns>
auto right_operands() {
    using All = Shape<Int<Columns>, Int<keys>>;
    const gmma::Layout_SW128_Atom<cute::bfloat16_t, major_of(Transposed)> atom;
    if constexpr (Transposed)
        return cute::tile_to_shape(atom, All{}, Step<cute::_2, cute::_1>{});
    else
        return cute::tile_to_shape(atom, All{});
}

/// CuTe's descriptor of turn `turn` along the depth.
template <bool Transposed, int Columns>
uint64_t descriptor(int turn) {
    const auto memory = cute::make_smem_ptr((cute::bfloat16_t *)GYRE_SHARED_MEMORY);
    const auto all = cute::make_tensor(memory, right_operands<Transposed, Columns>());
    const auto tile = cute::local_tile(all, Shape<Int<Columns>, Int<depth>>{}, cute::make_coord(0, turn));
    return gmma::make_gmma_desc<major_of(Transposed)>(tile).desc_;
}

template <int Columns>
struct Fragments {
    using Traits = cute::MMA_Traits<
        std::conditional_t<Columns == 64, cute::SM90_64x64x16_F32BF16BF16_RS<gmma::Major::K, gmma::Major::K>,
                           cute::SM90_64x128x16_F32BF16BF16_RS<gmma::Major::K, gmma::Major::K>>>;
    typename Traits::ALayout a;
    typename Traits::CLayout c;
};

int turn_of_depth = 0;

/// out[row][column] = sum over 16 of the depth, of one warpgroup.
template <bool Transposed, int Columns>
void product(float *out) {
    gyre_bf16 *const b = (gyre_bf16 *)GYRE_SHARED_MEMORY;
    const int thread = GYRE_THREAD_Y * 32 + GYRE_LANE;
    const auto layout = cute::as_position_independent_swizzle_layout(right_operands<Transposed, Columns>());
    if (thread < Columns)
        for (int k = 0; k < keys; k++)
            gyre_shared_store(b, (int)layout(thread, k), gyre_cast<gyre_bf16>(number(k, thread)));
    gyre_fence_async_proxy();
    GYRE_SYNC();
    const Fragments<Columns> fragments;
    uint32_t a[4];
    for (int word = 0; word < 4; word++) {
        float pair[2];
        for (int i = 0; i < 2; i++) {
            const int place = (int)fragments.a(thread, word * 2 + i);
            pair[i] = number(place % rows, turn_of_depth * depth + place / rows);
        }
        a[word] = gyre_pack<gyre_bf16>(pair[0], pair[1]);
    }
    float c[Columns / 2] = {};
    gyre_warpgroup_fence();
    const bool has_neighbours = Transposed && Columns > panel;
    const uint64_t of_cute = descriptor<Transposed, Columns>(turn_of_depth);
    const uint64_t of_kernels =
        gyre_operand(b + (int)layout(0, turn_of_depth * depth), has_neighbours ? keys * panel * 2 : 16);
    // Between panels of columns there is nothing to say where there is one.
    const uint64_t compared = Transposed && !has_neighbours ? ~leading_bits : ~uint64_t{0};
    if ((of_kernels & compared) != (of_cute & compared)) gyre::emulation::violation("a descriptor is not CuTe's");
    gyre_warpgroup_multiply<gyre_bf16, Columns, Transposed>(c, a, of_cute);
    gyre_warpgroup_commit();
    gyre_warpgroup_wait<0>();
    for (int i = 0; i < Columns / 2; i++) {
        const int place = (int)fragments.c(thread, i);
        out[place % rows * Columns + place / rows] = c[i];
    }
}
void along_depth_64(float *out) { product<false, 64>(out); }
void along_depth_128(float *out) { product<false, 128>(out); }
void along_columns_64(float *out) { product<true, 64>(out); }
void along_columns_128(float *out) { product<true, 128>(out); }
GYRE_COOPERATIVE_ENTRY(along_depth_64)
GYRE_COOPERATIVE_ENTRY(along_depth_128)
GYRE_COOPERATIVE_ENTRY(along_columns_64)
GYRE_COOPERATIVE_ENTRY(along_columns_128)

/// Multiplies by one warp's mma, whose operands are all in registers.
void product_of_warp(float *out) {
    using Traits = cute::MMA_Traits<cute::SM80_16x8x16_F32BF16BF16F32_TN>;
    const typename Traits::ALayout of_a;
    const typename Traits::BLayout of_b;
    const typename Traits::CLayout of_c;
    constexpr int warp_rows = 16, columns = 8;
    uint32_t a[4], b[2];
    const auto pack = [](const auto &element, int word) {
        return gyre_pack<gyre_bf16>(element(word * 2), element(word * 2 + 1));
    };
    for (int word = 0; word < 4; word++)
        a[word] = pack(
            [&](int i) {
                const int place = (int)of_a(GYRE_LANE, i);
                return number(place % warp_rows, place / warp_rows);
            },
            word);
    for (int word = 0; word < 2; word++)
        b[word] = pack(
            [&](int i) {
                const int place = (int)of_b(GYRE_LANE, i);
                return number(place / columns, place % columns);
            },
            word);
    float c[4] = {};
    gyre_mma<gyre_bf16>(c, a, b);
    for (int i = 0; i < 4; i++) {
        const int place = (int)of_c(GYRE_LANE, i);
        out[place % warp_rows * columns + place / warp_rows] = c[i];
    }
}
GYRE_COOPERATIVE_ENTRY(product_of_warp)

/// The largest error of a kernel's product; infinite: some are not there.
double error_of(const std::string &name, int height, int columns, int warps, int turn) {
    std::vector<float> out((size_t)(height * columns), NAN);
    float *pointer = out.data();
    void *arguments[] = {&pointer};
    turn_of_depth = turn;
    gyre::emulation::run_grid(*gyre::emulation::find_entry(name), {1, 1, 1}, {32, warps, 1}, shared_bytes, arguments);
    double error = 0;
    for (int i = 0; i < height; i++)
        for (int j = 0; j < columns; j++) {
            double sum = 0;
            for (int k = turn * depth; k < (turn + 1) * depth; k++) sum += (double)number(i, k) * number(k, j);
            const double difference = std::fabs(sum - out[(size_t)(i * columns + j)]);
            if (!(difference <= error)) error = std::isnan(difference) ? INFINITY : difference;
        }
    return error;
}

} // namespace

TEST_CASE("layouts: a warpgroup's operands, descriptors and sums are CuTe's") {
    const long before = violations();
    for (int turn = 0; turn < keys / depth; turn++)
        for (const auto &[name, columns] : {std::pair<std::string, int>{"along_depth_64", 64},
                                            {"along_depth_128", 128},
                                            {"along_columns_64", 64},
                                            {"along_columns_128", 128}}) {
            CAPTURE(name);
            CAPTURE(turn);
            CHECK(error_of(name, rows, columns, threads_of_group / 32, turn) < 1e-5);
        }
    CHECK(violations() == before);
}

TEST_CASE("layouts: fragments of a warp's product are CuTe's") {
    CHECK(error_of("product_of_warp", 16, 8, 1, 0) < 1e-5);
}
