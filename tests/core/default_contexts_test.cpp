/// Calls with NULL for a context: they do not wait for each other, and each thread is told its own kernel.
#include "support/each_kernel.h"
#include "support/stand_in_library.h"
#include "support/tensor.h"

#include <gyre/kernels.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

using namespace gyre::test;

namespace {

constexpr int callers = 5;

/// Lets nobody go on before all callers are there.
struct Meeting {
    std::mutex mutex;
    std::condition_variable all_here;
    int here = 0;

    void wait_for_all() {
        std::unique_lock<std::mutex> lock(mutex);
        if (++here == callers) all_here.notify_all();
        all_here.wait(lock, [&] { return here >= callers; });
    }
} meeting;

int meet(void **) {
    meeting.wait_for_all();
    return 0;
}

gyre_status rotate() {
    float x[2] = {1, 0};
    return rotate_rows(nullptr, x, 1);
}

} // namespace

TEST_CASE("calls with NULL run at once") {
    const std::string target = runnable_targets().front();
    const StandIn meeting_place("meeting", target.c_str(), meet);
    REQUIRE(gyre_register_kernels(&meeting_place.library) == GYRE_OK);
    meeting.here = 0;
    gyre_status statuses[callers];
    std::vector<std::thread> threads;
    for (gyre_status &status : statuses) threads.emplace_back([&status] { status = rotate(); });
    for (std::thread &each : threads) each.join(); // it does not end where one call waits for another
    for (const gyre_status status : statuses) CHECK(status == GYRE_OK);
    REQUIRE(gyre_unregister_kernels(&meeting_place.library) == GYRE_OK);
}

TEST_CASE("the kernel of the last call with NULL is this thread's") {
    REQUIRE(rotate() == GYRE_OK);
    const std::string mine = gyre_selected_kernel(nullptr);
    CHECK(mine.rfind("rotary_", 0) == 0);
    std::string before, after;
    std::thread([&] {
        before = gyre_selected_kernel(nullptr);
        Tensor q(GYRE_F32, {1, 3, 2, 64}), out(GYRE_F32, {1, 3, 2, 64});
        q.fill_normal(1);
        gyre_attention_args args = gyre_attention_defaults();
        args.q = args.k = args.v = q.view();
        args.out = out.view();
        CHECK(gyre_attention(nullptr, &args) == GYRE_OK);
        after = gyre_selected_kernel(nullptr);
    }).join();
    CHECK(before.empty());
    CHECK(after.rfind("attention_", 0) == 0);
    CHECK(gyre_selected_kernel(nullptr) == mine);
    CHECK(text(gyre_selected_library(nullptr)) == "gyre");
}

TEST_CASE("a workspace of the size that is told serves calls at once") {
    Tensor q(GYRE_F32, {2, 70, 4, 64});
    q.fill_normal(1);
    gyre_attention_args args = gyre_attention_defaults();
    const gyre_rope rope = gyre_rope_defaults();
    args.q = args.k = args.v = q.view();
    args.rope = &rope;
    std::vector<std::vector<uint64_t>> results(callers);
    std::vector<std::thread> threads;
    std::vector<gyre_status> statuses(callers, GYRE_INTERNAL);
    for (size_t i = 0; i < callers; i++)
        threads.emplace_back([&, i] {
            Tensor out(GYRE_F32, {2, 70, 4, 64});
            gyre_attention_args mine = args;
            mine.out = out.view();
            for (int turn = 0; turn < 20; turn++) {
                size_t bytes = 0;
                statuses[i] = gyre_attention_workspace_size(nullptr, &mine, &bytes);
                std::vector<char> memory(bytes);
                mine.workspace = memory.data();
                mine.workspace_size = bytes;
                if (statuses[i] == GYRE_OK) statuses[i] = gyre_attention(nullptr, &mine);
                if (statuses[i] != GYRE_OK) return;
            }
            results[i] = out.bits();
        });
    for (std::thread &each : threads) each.join();
    for (size_t i = 0; i < callers; i++) {
        CHECK(statuses[i] == GYRE_OK);
        CHECK(results[i] == results[0]);
    }
}
