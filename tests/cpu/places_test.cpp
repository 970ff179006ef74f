/// Where the threads of a call begin, so that each finds in its processor's caches what it read in the call before.
#include "support/each_kernel.h"
#include "support/stand_in_library.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace {

thread_local int place; // of a thread of the host's pool; -1: of the caller
std::atomic<int> begun, threads_to_begin;
std::vector<int> first_rows;           // of the threads' places
std::vector<std::atomic<int>> done(0); // how often each row has been rotated
const float *rows_begin;

/// A kernel that rotates nothing. Its first task in each thread stays until all threads have one.
int note_row(void **arguments) {
    const auto *x = static_cast<const halide_buffer_t *>(arguments[9]);
    const auto row = static_cast<size_t>((reinterpret_cast<const float *>(x->host) - rows_begin) / 2);
    done[row]++;
    if (place < 0 || first_rows[static_cast<size_t>(place)] >= 0) return 0;
    first_rows[static_cast<size_t>(place)] = static_cast<int>(row);
    begun++;
    for (long i = 0; begun < threads_to_begin && i < 20000000; i++) std::this_thread::yield(); // we may despair
    return 0;
}

/// A host whose threads come in the order of their places, or in the opposite one.
void run_in_threads(void *opposite, int32_t count, void (*task)(void *, int32_t), void *state) {
    std::vector<std::thread> threads;
    for (int32_t i = 0; i < count; i++) {
        const int32_t here = opposite ? count - 1 - i : i;
        threads.emplace_back([=] {
            place = here;
            task(state, here);
        });
    }
    for (std::thread &t : threads) t.join();
}

/// The rows that a call of so many tasks, one a row, begins with in the host's threads.
std::vector<int> rows_begun(int tasks, int threads, bool opposite) {
    const std::string target = gyre::test::runnable_targets().front();
    const gyre::test::StandIn places("places", target.c_str(), note_row);
    REQUIRE(gyre_register_kernels(&places.library) == GYRE_OK);
    gyre_context_options options = gyre_context_defaults();
    options.threads = threads;
    options.parallel_for = run_in_threads;
    options.pool = opposite ? &options : nullptr;
    options.library = places.library.name;
    gyre_context *context = nullptr;
    REQUIRE(gyre_context_create(&options, &context) == GYRE_OK);
    const auto count = static_cast<size_t>(tasks);
    std::vector<float> x(2 * count);
    place = -1;
    begun = 0;
    threads_to_begin = std::min(tasks, threads);
    first_rows.assign(count, -1);
    done = std::vector<std::atomic<int>>(count);
    rows_begin = x.data();
    CHECK_MESSAGE(gyre::test::rotate_rows(context, x.data(), tasks) == GYRE_OK, gyre::test::text(gyre_last_error()));
    for (const std::atomic<int> &times : done) CHECK(times == 1);
    gyre_context_destroy(context);
    CHECK(gyre_unregister_kernels(&places.library) == GYRE_OK);
    first_rows.resize(static_cast<size_t>(threads_to_begin));
    return first_rows;
}

} // namespace

TEST_CASE("threads begin at places of their own, in whatever order they come") {
    for (const bool opposite : {false, true}) {
        CHECK(rows_begun(8, 2, opposite) == std::vector<int>{0, 4});
        CHECK(rows_begun(8, 3, opposite) == std::vector<int>{0, 3, 6});
        CHECK(rows_begun(5, 8, opposite) == std::vector<int>{0, 1, 2, 3, 4});
    }
}

TEST_CASE("more threads than places begin at different tasks, each of which is done once") {
    std::vector<int> rows = rows_begun(40, 20, false);
    std::sort(rows.begin(), rows.end());
    CHECK(std::unique(rows.begin(), rows.end()) == rows.end());
}
