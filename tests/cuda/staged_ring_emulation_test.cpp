/// The emulation of shared memory that computing warps read before rings take its place, as attention's queries are: whoever fills the rings waits
/// until every computing warp has said of the slots that they are empty, which it does after it has read.
#include "gyre_warpgroup.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using gyre::emulation::violations;

namespace {

constexpr int slots = 2, rings = 2, turns = 3, group = 128, at_once = 8; // group: threads that compute, and that copy
constexpr int numbers = group * at_once, words_at = rings * slots * numbers * 2;

enum Fault {
    none,
    no_barrier_of_readers,
    said_before_reading,
    not_waited_for,
    one_warp_counted_less,
};
Fault fault = none;

/// Where a ring's slot of a turn begins, in numbers. The staged rows are in the first of all.
int place(int ring, int turn) { return (ring * slots + turn % slots) * numbers; }

void say_empty(const uint64_t *words) {
    for (int ring = 0; ring < rings; ring++)
        for (int slot = 0; slot < slots; slot++) gyre_ring_emptied<slots>(words, ring, slot);
}

void fill(const uint64_t *words, gyre_bf16 *memory, const gyre_bf16 *in, int thread) {
    for (int turn = 0; turn < turns; turn++)
        for (int ring = 0; ring < rings; ring++) {
            if (fault != not_waited_for) gyre_ring_wait_emptied<slots>(words, ring, turn);
            gyre_copy_async<at_once>(memory, place(ring, turn) + thread * at_once,
                                     in + (turn * rings + ring) * numbers + thread * at_once);
            gyre_ring_filling<slots>(words, ring, turn, rings);
        }
    gyre_rings_end<slots>(words, turns, rings);
}

void rows_then_rings(const gyre_bf16 *in, float *out) {
    const auto *const words = (const uint64_t *)(GYRE_SHARED_MEMORY + words_at);
    auto *const memory = (gyre_bf16 *)GYRE_SHARED_MEMORY;
    gyre_rings_begin<rings * slots>(words, group, group / 32 - (fault == one_warp_counted_less));
    const int thread = GYRE_THREAD_Y % 4 * 32 + GYRE_LANE;
    if (GYRE_THREAD_Y >= group / 32) return fill(words, memory, in, thread);
    if (fault == said_before_reading) say_empty(words);
    gyre_copy_async<at_once>(memory, thread * at_once, in + thread * at_once);
    gyre_copies_commit();
    gyre_copies_wait<0>();
    gyre_sync_of<group>();
    float sum = gyre_cast<float>(gyre_shared_load<gyre_bf16>(memory, (thread + 40) % group * at_once));
    if (fault != no_barrier_of_readers) gyre_sync_of<group>();
    if (fault != said_before_reading) say_empty(words);
    for (int turn = 0; turn < turns; turn++)
        for (int ring = 0; ring < rings; ring++) {
            gyre_ring_wait_filled<slots>(words, ring, turn);
            sum += gyre_cast<float>(
                gyre_shared_load<gyre_bf16>(memory, place(ring, turn) + (thread + 72) % group * at_once));
            gyre_ring_emptied<slots>(words, ring, turn);
        }
    out[thread] = sum;
}
GYRE_COOPERATIVE_ENTRY(rows_then_rings)

float number(int i) { return (float)(i * 7 % 13) / 4 - 1.0f; }

struct Outcome {
    long violations;
    bool right;
};

Outcome run(Fault of) {
    std::vector<gyre_bf16> in((size_t)(turns * rings * numbers));
    for (size_t i = 0; i < in.size(); i++) in[i] = gyre_cast<gyre_bf16>(number((int)i));
    std::vector<float> out((size_t)group, NAN);
    const gyre_bf16 *from = in.data();
    float *to = out.data();
    void *arguments[] = {&from, &to};
    fault = of;
    const long before = violations();
    gyre::emulation::run_grid(*gyre::emulation::find_entry("rows_then_rings"), {1, 1, 1}, {32, 2 * group / 32, 1},
                              words_at + 2 * rings * slots * sizeof(uint64_t), arguments);
    Outcome found{violations() - before, true};
    for (int i = 0; i < group; i++) {
        double sum = number((i + 40) % group * at_once);
        for (int t = 0; t < turns * rings; t++) sum += number(t * numbers + (i + 72) % group * at_once);
        found.right = found.right && std::fabs(sum - out[(size_t)i]) < 1e-5;
    }
    return found;
}

} // namespace

TEST_CASE("emulation: rows that computing warps have read may be overwritten by rings that they have said are empty") {
    const Outcome found = run(none);
    CHECK(found.violations == 0);
    CHECK(found.right);
}

TEST_CASE("emulation: what is said of the slots orders it, the barrier of the readers does not") {
    CHECK(run(no_barrier_of_readers).violations == 0);
    CHECK(run(said_before_reading).violations > 0);
    CHECK(run(not_waited_for).violations > 0);
    CHECK(run(one_warp_counted_less).violations > 0);
}
