/// The emulation of rings of shared memory that some warps fill and others read: that what is read is right, and that each thing which a kernel may
/// forget is caught.
#include "gyre_warpgroup.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using gyre::emulation::violations;

namespace {

constexpr int slots = 2, turns = 5, group = 128, at_once = 8; // group: threads that compute, and that copy
constexpr int numbers = group * at_once, words_at = slots * numbers * 2;
constexpr int rows = 64, columns = 64, depth = 16; // of a product of what lies in a slot

enum Fault {
    none,
    no_wait_for_filled,
    no_fence,
    no_wait_for_emptied,
    emptied_early,
    never_emptied,
    other_turn,
    not_filled,
    not_begun,
    others_at_barrier
};
Fault fault = none;

const uint64_t *words() { return (const uint64_t *)(GYRE_SHARED_MEMORY + words_at); }

template <bool Multiplies>
void ring(const gyre_bf16 *in, float *out) {
    const uint64_t *const w = words();
    gyre_bf16 *const memory = (gyre_bf16 *)GYRE_SHARED_MEMORY;
    if (fault == not_begun)
        GYRE_SYNC();
    else
        gyre_rings_begin<slots>(w, group, group / 32);
    const int thread = GYRE_THREAD_Y % 4 * 32 + GYRE_LANE;
    if (GYRE_THREAD_Y >= group / 32) {
        gyre_fewer_registers<40>();
        if (fault == others_at_barrier) gyre_sync_of<group>();
        for (int turn = 0; turn < turns; turn++) {
            if (fault != no_wait_for_emptied) gyre_ring_wait_emptied<slots>(w, 0, turn);
            gyre_copy_async<at_once>(memory, turn % slots * numbers + thread * at_once,
                                     in + turn * numbers + thread * at_once);
            if (fault == not_filled && !thread) continue;
            if (fault != no_fence) {
                gyre_ring_filling<slots>(w, 0, turn, 1);
                continue;
            }
            gyre_copies_commit();
            gyre_copies_wait<0>();
            gyre::emulation::arrive_at(gyre_ring_word<slots>(w, 0, turn, 0));
        }
        if (fault != no_fence) gyre_rings_end<slots>(w, turns, 1);
        return;
    }
    gyre_more_registers<232>();
    for (int slot = 0; slot < slots; slot++) gyre_ring_emptied<slots>(w, 0, slot);
    float c[columns / 2] = {}, sum = 0;
    uint32_t a[4];
    for (uint32_t &pair : a) pair = gyre_pack<gyre_bf16>(1.0f, 1.0f);
    for (int turn = 0; turn < turns; turn++) {
        if (fault != no_wait_for_filled) gyre_ring_wait_filled<slots>(w, 0, turn + (fault == other_turn));
        if (fault == emptied_early) gyre_ring_emptied<slots>(w, 0, turn);
        gyre_bf16 *const slot = memory + turn % slots * numbers;
        if (Multiplies) {
            gyre_warpgroup_fence();
            gyre_warpgroup_multiply<gyre_bf16, columns, true>(c, a, gyre_operand(slot, 16));
            gyre_warpgroup_commit();
            gyre_warpgroup_wait<0>();
        } else {
            sum += gyre_cast<float>(gyre_shared_load<gyre_bf16>(slot, (thread + 40) % group * at_once));
        }
        if (fault != emptied_early && fault != never_emptied) gyre_ring_emptied<slots>(w, 0, turn);
    }
    if (Multiplies)
        for (int i = 0; i < columns / 2; i++)
            out[(GYRE_THREAD_Y * 16 + GYRE_LANE / 4 + i % 4 / 2 * 8) * columns + i / 4 * 8 + GYRE_LANE % 4 * 2 +
                i % 2] = c[i];
    else
        out[thread] = sum;
}
void ring_of_sums(const gyre_bf16 *in, float *out) { ring<false>(in, out); }
void ring_of_products(const gyre_bf16 *in, float *out) { ring<true>(in, out); }
GYRE_COOPERATIVE_ENTRY(ring_of_sums)
GYRE_COOPERATIVE_ENTRY(ring_of_products)

float number(int i) { return (float)(i * 7 % 13) / 4 - 1.0f; }

/// Violations, and the largest error.
std::pair<long, double> run(bool multiplies, Fault of) {
    std::vector<gyre_bf16> in((size_t)(turns * numbers));
    for (size_t i = 0; i < in.size(); i++) in[i] = gyre_cast<gyre_bf16>(number((int)i));
    std::vector<float> out((size_t)(rows * columns), NAN);
    const gyre_bf16 *from = in.data();
    float *to = out.data();
    void *arguments[] = {&from, &to};
    fault = of;
    const long before = violations();
    gyre::emulation::run_grid(*gyre::emulation::find_entry(multiplies ? "ring_of_products" : "ring_of_sums"), {1, 1, 1},
                              {32, 2 * group / 32, 1}, words_at + 2 * slots * sizeof(uint64_t), arguments);
    double error = 0;
    const auto compare = [&](size_t at, double sum) {
        const double difference = std::fabs(sum - out[at]);
        if (!(difference <= error)) error = std::isnan(difference) ? INFINITY : difference;
    };
    for (int i = 0; !multiplies && i < group; i++) {
        double sum = 0;
        for (int turn = 0; turn < turns; turn++) sum += number(turn * numbers + (i + 40) % group * at_once);
        compare((size_t)i, sum);
    }
    for (int column = 0; multiplies && column < columns; column++) {
        double sum = 0;
        for (int turn = 0; turn < turns; turn++)
            for (int k = 0; k < depth; k++)
                sum += number(turn * numbers + k * columns + ((column / 8) ^ k % 8) * 8 + column % 8);
        for (int row = 0; row < rows; row++) compare((size_t)(row * columns + column), sum);
    }
    return {violations() - before, error};
}

} // namespace

TEST_CASE("emulation: what copying warps fill a ring with is read by others, also by products of a warpgroup") {
    for (const bool multiplies : {false, true}) {
        const auto [wrong, error] = run(multiplies, none);
        CHECK(wrong == 0);
        CHECK(error < 1e-5);
    }
}

TEST_CASE("emulation: waits that a ring lacks are caught, and threads that wait for ever") {
    for (const bool multiplies : {false, true})
        for (const Fault each : {no_wait_for_filled, no_wait_for_emptied, emptied_early, never_emptied, other_turn,
                                 not_filled, not_begun, others_at_barrier}) {
            CAPTURE(multiplies);
            CAPTURE((int)each);
            CHECK(run(multiplies, each).first > 0);
        }
    CHECK(run(true, no_fence).first > 0);
    CHECK(run(false, no_fence).first == 0); // which only products need
}
