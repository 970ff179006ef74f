/// The emulation of CUDA blocks: that it runs what is right, and catches what is wrong. A check that cannot fail is none.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "gyre_device.h"

#include <vector>

#include "staged.cu"

using gyre::emulation::violations;

namespace {

constexpr int threads = 32;

/// Violations of one block of a kernel that takes an array of 32 floats.
long run(const char *name, std::vector<float> &data, size_t shared_bytes = threads * sizeof(float)) {
    const long before = violations();
    float *pointer = data.data();
    void *arguments[] = {&pointer};
    const gyre::emulation::Entry *entry = gyre::emulation::find_entry(name);
    REQUIRE((entry != nullptr));
    gyre::emulation::run_grid(*entry, {1, 1, 1}, {threads, 1, 1}, shared_bytes, arguments);
    return violations() - before;
}

std::vector<float> numbers() {
    std::vector<float> data(threads);
    for (int i = 0; i < threads; i++) data[(size_t)i] = (float)i;
    return data;
}

} // namespace

// Reverses an array through shared memory.
void reverse(float *data) {
    float *const staged = (float *)GYRE_SHARED_MEMORY;
    gyre_shared_store(staged, GYRE_THREAD_X, data[GYRE_THREAD_X]);
    GYRE_SYNC();
    data[GYRE_THREAD_X] = gyre_shared_load<float>(staged, threads - 1 - GYRE_THREAD_X);
}
GYRE_COOPERATIVE_ENTRY(reverse)

// reverse() with its barrier removed.
void reverse_without_barrier(float *data) {
    float *const staged = (float *)GYRE_SHARED_MEMORY;
    gyre_shared_store(staged, GYRE_THREAD_X, data[GYRE_THREAD_X]);
    data[GYRE_THREAD_X] = gyre_shared_load<float>(staged, threads - 1 - GYRE_THREAD_X);
}
GYRE_COOPERATIVE_ENTRY(reverse_without_barrier)

// Twice through the same memory, where the second writing may overtake the first reading.
void reverse_twice(float *data, bool barrier_between) {
    float *const staged = (float *)GYRE_SHARED_MEMORY;
    for (int turn = 0; turn < 2; turn++) {
        gyre_shared_store(staged, GYRE_THREAD_X, data[GYRE_THREAD_X]);
        GYRE_SYNC();
        data[GYRE_THREAD_X] = gyre_shared_load<float>(staged, threads - 1 - GYRE_THREAD_X);
        if (barrier_between) GYRE_SYNC();
    }
}
void reverse_twice_rightly(float *data) { reverse_twice(data, true); }
void reverse_twice_wrongly(float *data) { reverse_twice(data, false); }
GYRE_COOPERATIVE_ENTRY(reverse_twice_rightly)
GYRE_COOPERATIVE_ENTRY(reverse_twice_wrongly)

void barrier_for_half(float *) {
    if (GYRE_THREAD_X < threads / 2) GYRE_SYNC();
}
GYRE_COOPERATIVE_ENTRY(barrier_for_half)

void reads_what_nobody_wrote(float *data) {
    data[GYRE_THREAD_X] = gyre_shared_load<float>((float *)GYRE_SHARED_MEMORY, GYRE_THREAD_X);
}
GYRE_COOPERATIVE_ENTRY(reads_what_nobody_wrote)

TEST_CASE("emulation: threads that share memory rightly get what they should, in any order") {
    std::vector<float> data = numbers();
    CHECK(run("reverse", data) == 0);
    for (int i = 0; i < threads; i++) CHECK(data[(size_t)i] == (float)(threads - 1 - i));
    data = numbers();
    CHECK(run("reverse_twice_rightly", data) == 0);
    CHECK(data == numbers());
}

TEST_CASE(
    "emulation: a removed barrier, one that some threads miss, and memory that nobody wrote or asked for are caught") {
    std::vector<float> data = numbers();
    CHECK(run("reverse_without_barrier", data) > 0);
    CHECK(run("reverse_twice_wrongly", data) > 0);
    CHECK(run("barrier_for_half", data) > 0);
    CHECK(run("reads_what_nobody_wrote", data) > 0);
    CHECK(run("reverse", data, threads * sizeof(float) - 4) > 0);
}

TEST_CASE("emulation: an argument by value is not read beyond its end") {
    const long before = violations();
    const gyre_by_value<int, 4> values{{1, 2, 3, 4}};
    CHECK(values[3] == 4);
    CHECK(violations() == before);
    (void)values[3 - 4];
    CHECK(violations() == before + 1);
}

TEST_CASE("emulation: bf16 and f16 are rounded to nearest even, and NaN stays NaN") {
    CHECK(gyre_cast<gyre_bf16>(1.00390625f).bits == 0x3f80); // a tie
    CHECK(gyre_cast<gyre_bf16>(1.01171875f).bits == 0x3f82); // a tie
    CHECK(gyre_cast<float>(gyre_cast<gyre_f16>(65504.0f)) == 65504.0f);
    CHECK(std::isnan(gyre_cast<float>(gyre_cast<gyre_bf16>(NAN))));
}

namespace {

/// Runs the pipeline of staged_pipeline.cpp, whose kernel's type is given, on [n, n]. A kernel's arguments are in the order of their names.
template <typename... Parameters>
void run_staged(void (*)(Parameters...), const std::vector<float> &in, std::vector<float> &out, int n) {
    const auto value = [&](auto parameter) {
        using Type = decltype(parameter);
        if constexpr (std::is_same_v<Type, const float *>)
            return in.data();
        else if constexpr (std::is_same_v<Type, float *>)
            return out.data();
        else
            return (Type)n; // strides
    };
    std::tuple<std::remove_const_t<Parameters>...> values{value(Parameters{})...};
    std::apply(
        [&](auto &...each) {
            void *arguments[] = {&each...};
            const gyre::emulation::Entry *entry = gyre::emulation::find_entry("staged_0");
            REQUIRE((entry != nullptr && entry->cooperative));
            gyre::emulation::run_grid(*entry, {n / 16, n / 16, 1}, {16, 16, 1}, 16 * 16 * (4 + 2), arguments);
        },
        values);
}

} // namespace

TEST_CASE("emulation: a pipeline whose schedule shares memory between threads comes out right and without a race") {
    const int n = 48;
    std::vector<float> in((size_t)(n * n)), out((size_t)(n * n), NAN);
    for (int i = 0; i < n * n; i++) in[(size_t)i] = (float)(i % 97) / 7;
    const long before = violations();
    run_staged(staged_0, in, out, n);
    CHECK(violations() == before);
    long wrong = 0;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            const float v = in[(size_t)(x * n + y)];
            wrong += !(out[(size_t)(y * n + x)] == gyre_cast<float>(gyre_cast<gyre_bf16>(v)) + v);
        }
    CHECK(wrong == 0);
}
