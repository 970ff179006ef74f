/// The emulation of device memory that a kernel writes: threads of one block that a barrier parts may share it, and all others are caught.
#include "gyre_device.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using gyre::emulation::violations;

namespace {

constexpr int threads = 32, blocks = 3;

int number() { return GYRE_BLOCK_X * threads + GYRE_THREAD_X; }

void each_its_own(gyre_written<float> out) { out[number()] = (float)number(); }
GYRE_ENTRY(each_its_own)

void all_the_same(gyre_written<float> out) { out[0] = 7; }
GYRE_ENTRY(all_the_same)

template <bool Waits>
void from_the_neighbour(gyre_written<float> out) {
    out[number()] = (float)number();
    if (Waits) GYRE_SYNC();
    const float next = out[number() ^ 1];
    if (Waits) GYRE_SYNC();
    out[number()] = next;
}
void neighbour_waited_for(gyre_written<float> out) { from_the_neighbour<true>(out); }
void neighbour_not_waited_for(gyre_written<float> out) { from_the_neighbour<false>(out); }
GYRE_COOPERATIVE_ENTRY(neighbour_waited_for)
GYRE_COOPERATIVE_ENTRY(neighbour_not_waited_for)

void threads_of_one_place(gyre_written<float> out) { out[GYRE_BLOCK_X] = (float)GYRE_THREAD_X; }
GYRE_ENTRY(threads_of_one_place)

void blocks_of_one_place(gyre_written<gyre_bf16> out) {
    const gyre_bf16 numbers[8] = {{(uint16_t)GYRE_BLOCK_X}, {2}, {3}, {4}, {5}, {6}, {7}, {8}};
    gyre_store<8>(out + 8 * GYRE_THREAD_X, numbers);
}
GYRE_ENTRY(blocks_of_one_place)

void blocks_of_one_place_somewhere(gyre_written<gyre_f16> out) {
    const gyre_f16 numbers[2] = {{1}, {(uint16_t)GYRE_BLOCK_X}};
    const bool allowed[2] = {true, GYRE_THREAD_X == 5};
    gyre_store<2>(out + 2 * GYRE_THREAD_X, numbers, allowed);
}
GYRE_ENTRY(blocks_of_one_place_somewhere)

void from_the_block_before(gyre_written<float> out) { out[number() + threads] = out[number()] + 1; }
GYRE_ENTRY(from_the_block_before)

/// What a second launch reads, the first has written.
long run(const char *name, std::vector<float> *memory, int launches = 2) {
    memory->assign((size_t)(threads * (blocks + 1)), 0);
    gyre_written<float> out{memory->data()};
    void *arguments[] = {&out};
    const long before = violations();
    for (int i = 0; i < launches; i++)
        gyre::emulation::run_grid(*gyre::emulation::find_entry(name), {blocks, 1, 1}, {threads, 1, 1}, 0, arguments);
    return violations() - before;
}

} // namespace

TEST_CASE("emulation: threads write numbers of their own, or the same, and read others' after a barrier") {
    std::vector<float> memory;
    CHECK(run("each_its_own", &memory) == 0);
    CHECK(run("all_the_same", &memory) == 0);
    CHECK(memory[0] == 7);
    CHECK(run("neighbour_waited_for", &memory) == 0);
    for (int i = 0; i < threads * blocks; i++) CHECK(memory[(size_t)i] == (float)(i ^ 1));
}

TEST_CASE("emulation: races in device memory, within a block of threads and between blocks, are caught") {
    std::vector<float> memory;
    for (const char *name : {"neighbour_not_waited_for", "threads_of_one_place", "blocks_of_one_place",
                             "blocks_of_one_place_somewhere", "from_the_block_before"}) {
        CAPTURE(name);
        CHECK(run(name, &memory, 1) > 0);
    }
}
