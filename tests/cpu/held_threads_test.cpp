/// Calls while the system gives a thread of their pool no processor, as where other programs or other pools have them all.
#if defined(__linux__)
#include "support/each_kernel.h"
#include "support/stand_in_library.h"

#include <gyre/kernels.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <dirent.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace {

std::atomic<bool> is_held, may_go, is_gone;

void wait_a_little() {
    const timespec little = {0, 1000000};
    nanosleep(&little, nullptr);
}

/// A signal's handler: holds the thread that the signal was sent to.
void hold(int) {
    is_held = true;
    while (!may_go) wait_a_little();
    is_gone = true;
}

std::set<int> threads_of_this_process() {
    std::set<int> found;
    DIR *folder = opendir("/proc/self/task");
    REQUIRE(folder);
    while (const dirent *entry = readdir(folder))
        if (entry->d_name[0] != '.') found.insert(std::stoi(entry->d_name));
    closedir(folder);
    return found;
}

/// True if the thread waits for something, and so holds nothing that a call would wait for.
bool sleeps(int thread) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string line;
    std::getline(file, line);
    return line.substr(line.rfind(')') + 1, 2) == " S";
}

/// Where the tasks of a call meet: each stays in its kernel until it is let go.
std::atomic<int> inside, most_inside, enough;
std::atomic<bool> let_go;

int stay(void **) {
    const int here = ++inside;
    for (int most = most_inside; most < here && !most_inside.compare_exchange_weak(most, here);) {
    }
    if (here >= enough) let_go = true;
    for (long i = 0; !let_go && i < 20000000; i++) std::this_thread::yield(); // of a thread that never comes we despair
    let_go = true;
    inside--;
    return 0;
}

/// The most threads at once of a call of eight tasks, which stay until so many are there or somebody lets them go.
int most_at_once(gyre_context_options options, int that_suffice) {
    const std::string target = gyre::test::runnable_targets().front();
    const gyre::test::StandIn staying("staying", target.c_str(), stay);
    REQUIRE(gyre_register_kernels(&staying.library) == GYRE_OK);
    options.library = staying.library.name;
    gyre_context *context = nullptr;
    REQUIRE(gyre_context_create(&options, &context) == GYRE_OK);
    inside = 0;
    most_inside = 0;
    enough = that_suffice;
    let_go = false;
    float x[16] = {};
    CHECK_MESSAGE(gyre::test::rotate_rows(context, x, 8) == GYRE_OK, gyre::test::text(gyre_last_error()));
    gyre_context_destroy(context);
    CHECK(gyre_unregister_kernels(&staying.library) == GYRE_OK);
    return most_inside;
}

} // namespace

TEST_CASE("a pool of two threads runs two tasks at once") {
    gyre_context_options options = gyre_context_defaults();
    options.threads = 2;
    CHECK(most_at_once(options, 2) == 2);
}

TEST_CASE("of a host's threads no more run tasks than the context has memory for, however many come") {
    gyre_context_options options = gyre_context_defaults();
    options.threads = 2;
    options.parallel_for = [](void *, int32_t count, void (*task)(void *, int32_t), void *state) {
        std::vector<std::thread> threads;
        for (int32_t i = 0; i <= count; i++)
            threads.emplace_back([=] {
                task(state, i);
                let_go = true; // one has found that there is nothing for it to do
            });
        for (std::thread &t : threads) t.join();
    };
    CHECK(most_at_once(options, 3) <= 2);
}

TEST_CASE("a call does not wait for a thread of its pool that has no processor") {
    constexpr int64_t shape[4] = {2, 64, 4, 64};
    std::vector<float> q(2 * 64 * 4 * 64), k(q.size()), v(q.size()), out(q.size()), expected(q.size());
    for (size_t i = 0; i < q.size(); i++) {
        q[i] = static_cast<float>(i % 13) / 13;
        k[i] = static_cast<float>(i % 7) / 7;
        v[i] = static_cast<float>(i % 11) / 11;
    }
    gyre_attention_args args = gyre_attention_defaults();
    args.q = gyre_tensor_dense(q.data(), GYRE_F32, 4, shape);
    args.k = gyre_tensor_dense(k.data(), GYRE_F32, 4, shape);
    args.v = gyre_tensor_dense(v.data(), GYRE_F32, 4, shape);
    args.out = gyre_tensor_dense(expected.data(), GYRE_F32, 4, shape);
    gyre_context_options options = gyre_context_defaults();
    options.threads = 2;
    gyre_context *context = nullptr;
    REQUIRE(gyre_context_create(&options, &context) == GYRE_OK);
    const std::set<int> before = threads_of_this_process();
    REQUIRE(gyre_attention(context, &args) == GYRE_OK);
    int other = 0;
    for (const int thread : threads_of_this_process())
        if (!before.count(thread)) other = thread;
    REQUIRE(other != 0);
    while (!sleeps(other)) wait_a_little();

    struct sigaction holding = {}, given = {};
    holding.sa_handler = hold;
    REQUIRE(sigaction(SIGTRAP, &holding, &given) == 0);
    REQUIRE(syscall(SYS_tgkill, getpid(), other, SIGTRAP) == 0);
    while (!is_held) wait_a_little();
    args.out = gyre_tensor_dense(out.data(), GYRE_F32, 4, shape);
    for (int i = 0; i < 3; i++) {
        std::fill(out.begin(), out.end(), -1.0f);
        CHECK(gyre_attention(context, &args) == GYRE_OK); // would not return, if it waited
        CHECK(out == expected);
    }
    may_go = true;
    while (!is_gone) wait_a_little();
    REQUIRE(sigaction(SIGTRAP, &given, nullptr) == 0);
    std::fill(out.begin(), out.end(), -1.0f);
    CHECK(gyre_attention(context, &args) == GYRE_OK);
    CHECK(out == expected);
    gyre_context_destroy(context);
}
#endif
