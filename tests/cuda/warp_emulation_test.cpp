/// The emulation of warps: that products come out right, and that each thing which a kernel may forget is caught.
#include "gyre_device.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "product_bf16.cu"
#include "product_f16.cu"
#include "product_f32.cu"
#include "product_row_tiles.cu"
#include "product_row_tiles_f32.cu"
#include "product_row_tiles_shared.cu"
#include "product_rows_shared.cu"
#include "product_rows_unpadded.cu"
#include "product_unpadded.cu"

// The text of the kernel without its barriers.
#undef GYRE_SYNC
#define GYRE_SYNC()
#include "product_row_tiles_without_barrier.cu"
#include "product_without_barrier.cu"
#undef GYRE_SYNC
#define GYRE_SYNC() gyre::emulation::wait_for_block()

// Without waiting for what is copied.
template <int>
void does_not_wait() {}
#define gyre_copies_wait does_not_wait
#include "product_without_wait.cu"
#undef gyre_copies_wait

// With tiles read along rows that should be read along columns.
#define gyre_load_tiles_transposed gyre_load_tiles
#include "product_not_transposed.cu"
#undef gyre_load_tiles_transposed

using gyre::emulation::violations;

namespace {

constexpr int n = 96, tile = 32, two_warps = 2, shared_bytes = 16384;

struct Outcome {
    long violations;
    double error;
};

/// Runs a product of [n, n] matrices, and compares it with one in double.
template <typename T>
Outcome run_product(const char *name, int warps = two_warps) {
    // Aligned as device memory is.
    std::vector<T> a((size_t)(n * n + 8)), b(a);
    const auto aligned = [](std::vector<T> &v) { return (T *)(((uintptr_t)v.data() + 15) / 16 * 16); };
    T *const a_data = aligned(a), *const b_data = aligned(b);
    uint32_t state = 1;
    const auto next = [&] { return (float)((state = state * 1664525u + 1013904223u) >> 24) / 128 - 1; };
    for (int i = 0; i < n * n; i++) {
        a_data[i] = gyre_cast<T>(next());
        b_data[i] = gyre_cast<T>(next());
    }
    std::vector<float> out((size_t)(n * n), NAN);
    int stride = n, blocks = n / tile;
    const T *const_a = a_data, *const_b = b_data;
    float *result = out.data();
    void *arguments[] = {&stride, &stride, &stride, &blocks, &const_a, &const_b, &result};
    const gyre::emulation::Entry *entry = gyre::emulation::find_entry(std::string(name) + "_0");
    REQUIRE((entry != nullptr && entry->cooperative));
    const long before = violations();
    gyre::emulation::run_grid(*entry, {n / tile, n / tile, 1}, {32, warps, 1}, shared_bytes, arguments);
    double error = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += (double)gyre_cast<float>(a_data[i * n + k]) * gyre_cast<float>(b_data[k * n + j]);
            const double difference = std::fabs(sum - out[(size_t)(i * n + j)]);
            if (!(difference <= error)) error = std::isnan(difference) ? INFINITY : difference;
        }
    return {violations() - before, error};
}

} // namespace

TEST_CASE("emulation: a product by warps comes out right, without a race and without waiting for banks") {
    for (const Outcome &o : {run_product<gyre_bf16>("product_bf16"), run_product<gyre_f16>("product_f16"),
                             run_product<float>("product_f32")}) {
        CHECK(o.violations == 0);
        CHECK(o.error < 1e-4);
    }
}

TEST_CASE("emulation: a warp with two tiles of rows, and a left operand in shared memory, come out right") {
    for (const Outcome &o :
         {run_product<gyre_bf16>("product_row_tiles", 1), run_product<float>("product_row_tiles_f32", 1),
          run_product<gyre_f16>("product_row_tiles_shared", 1), run_product<gyre_bf16>("product_rows_shared")}) {
        CHECK(o.violations == 0);
        CHECK(o.error < 1e-4);
    }
    const Outcome unpadded = run_product<gyre_bf16>("product_rows_unpadded", 1);
    CHECK(unpadded.violations > 0); // rows in the same banks
    CHECK(unpadded.error < 1e-4);
    CHECK(run_product<gyre_bf16>("product_row_tiles_without_barrier", 1).violations > 0);
}

TEST_CASE("emulation: rows in the same banks, removed barriers, copies not waited for and wrong tiles are caught") {
    const Outcome unpadded = run_product<gyre_bf16>("product_unpadded");
    CHECK(unpadded.violations > 0);
    CHECK(unpadded.error < 1e-4); // slow, but right
    CHECK(run_product<gyre_bf16>("product_without_barrier").violations > 0);
    const Outcome without_wait = run_product<gyre_bf16>("product_without_wait");
    CHECK(without_wait.violations > 0);
    CHECK(without_wait.error > 1); // of NaN
    CHECK(run_product<gyre_bf16>("product_not_transposed").error > 0.1);
}

// A lane that leaves before the others exchange what they have.
void lane_leaves(float *data) {
    if (GYRE_THREAD_X == 5) return;
    data[GYRE_THREAD_X] = gyre_quad_sum(data[GYRE_THREAD_X]);
}
GYRE_COOPERATIVE_ENTRY(lane_leaves)

void copies_odd_places(float *data) {
    gyre_copy_async<4>((float *)GYRE_SHARED_MEMORY, 4 * GYRE_THREAD_X + 1, data);
    gyre_copies_wait<0>();
}
GYRE_COOPERATIVE_ENTRY(copies_odd_places)

// Lanes that exchange what they have in one operation, but come there from two places.
void lanes_meet_from_two_places(float *data) {
    if (GYRE_THREAD_X % 4 < 2)
        data[GYRE_THREAD_X] = gyre_quad_sum(data[GYRE_THREAD_X]);
    else
        data[GYRE_THREAD_X] = gyre_quad_sum(data[GYRE_THREAD_X]) + 1;
}
GYRE_COOPERATIVE_ENTRY(lanes_meet_from_two_places)

// What a thread has copied is read by another, which has only waited for the others before the copy arrived. It has arrived by then, if lanes meet.
template <bool Meets>
void barrier_before_a_wait(float *data) {
    float *const staged = (float *)GYRE_SHARED_MEMORY;
    gyre_copy_async<4>(staged, 4 * GYRE_THREAD_X, data + GYRE_THREAD_X % 8 * 4);
    gyre_copies_commit();
    GYRE_SYNC();
    gyre_copies_wait<0>();
    if (Meets) (void)gyre_quad_sum(1.0f);
    data[32 + GYRE_THREAD_X] = gyre_shared_load<float>(staged, 4 * (GYRE_THREAD_X ^ 1));
}
void barrier_before_the_wait(float *data) { barrier_before_a_wait<false>(data); }
void barrier_before_the_wait_of_all(float *data) { barrier_before_a_wait<true>(data); }
GYRE_COOPERATIVE_ENTRY(barrier_before_the_wait)
GYRE_COOPERATIVE_ENTRY(barrier_before_the_wait_of_all)

void reads_odd_vectors(float *data) {
    float *const staged = (float *)GYRE_SHARED_MEMORY;
    for (int i = 0; i < 8; i++) gyre_shared_store(staged, 8 * GYRE_THREAD_X + i, data[i]);
    GYRE_SYNC();
    float vector[4];
    gyre_shared_load_vector<4>(vector, staged, 8 * GYRE_THREAD_X + 1);
}
GYRE_COOPERATIVE_ENTRY(reads_odd_vectors)

TEST_CASE("emulation: lanes that miss an exchange, and copies that are not aligned, are caught") {
    std::vector<float> data(68, 1.0f);
    float *pointer = (float *)(((uintptr_t)data.data() + 15) / 16 * 16); // as device memory is
    void *arguments[] = {&pointer};
    for (const char *name : {"lane_leaves", "copies_odd_places", "lanes_meet_from_two_places",
                             "barrier_before_the_wait", "barrier_before_the_wait_of_all", "reads_odd_vectors"}) {
        CAPTURE(name);
        const long before = violations();
        gyre::emulation::run_grid(*gyre::emulation::find_entry(name), {1, 1, 1}, {32, 1, 1}, shared_bytes, arguments);
        CHECK(violations() > before);
    }
}
