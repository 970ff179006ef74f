/// Calls beside what a process does with itself: fork(), exit(), cancelled threads and signals.
#include "support/each_kernel.h"
#include "support/self_contained_call.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace gyre::test;

extern "C" __attribute__((weak)) void __asan_init();

namespace {

/// AddressSanitizer's malloc() hangs in a child process, if another thread was in it when the process was copied.
bool has_fork_safe_malloc() { return !__asan_init; }

/// What a child process makes of `work`: its exit status, or -1 after a signal.
template <typename Work>
int in_child(const Work &work) {
    const pid_t child = fork();
    if (child == 0) std::exit(work());
    int status = 0;
    REQUIRE(child > 0);
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Calls until told to stop; the first that fails ends it.
struct Caller {
    std::atomic<bool> stop{false};
    std::atomic<long> calls{0};
    gyre_context *context;
    SelfContainedCall call;

    explicit Caller(gyre_context *context) : context(context) {}
    void run() {
        while (!stop && call.run(context) == GYRE_OK) calls++;
    }
    void wait_for_calls(long count) const {
        while (calls < count) std::this_thread::yield();
    }
};

} // namespace

TEST_CASE("a child process calls with contexts of its parent, destroys them and ends") {
    SelfContainedCall call;
    gyre_context *context = context_of(3);
    REQUIRE(call.run(context) == GYRE_OK);
    REQUIRE(call.run(nullptr) == GYRE_OK);
    const std::vector<float> expected = call.out;
    const int result = in_child([&] {
        for (gyre_context *each : {context, (gyre_context *)nullptr}) {
            call.out.assign(call.out.size(), -1);
            if (call.run(each) != GYRE_OK || call.out != expected) return 1;
        }
        const int grandchild = in_child([&] { return call.run(context) == GYRE_OK && call.out == expected ? 0 : 1; });
        gyre_context_destroy(context);
        return grandchild;
    });
    CHECK(result == 0);
    CHECK(call.run(context) == GYRE_OK);
    gyre_context_destroy(context);
}

TEST_CASE("a child process calls with contexts that were at work in other threads when it began" *
          doctest::skip(!has_fork_safe_malloc())) {
    Caller mine(context_of(2)), everybodys(nullptr);
    std::thread one([&] { mine.run(); }), other([&] { everybodys.run(); });
    mine.wait_for_calls(1);
    everybodys.wait_for_calls(1);
    for (int round = 0; round < 30; round++) {
        const int result = in_child([&] {
            SelfContainedCall call;
            const bool ok = call.run(mine.context) == GYRE_OK && call.run(nullptr) == GYRE_OK;
            gyre_context_destroy(mine.context);
            return ok ? 0 : 1;
        });
        CHECK(result == 0);
    }
    mine.stop = everybodys.stop = true;
    one.join();
    other.join();
    gyre_context_destroy(mine.context);
}

TEST_CASE("a process ends while its threads call, and calls from what runs at its end") {
    for (int round = 0; round < 20; round++) {
        const int result = in_child([] {
            static struct AtEnd { // destroyed after whatever the first call makes
                SelfContainedCall call;
                ~AtEnd() {
                    if (call.run(nullptr) != GYRE_OK || !*gyre_cpu_features()) std::_Exit(2);
                }
            } at_end;
            std::atexit([] {
                if (at_end.call.run(nullptr) != GYRE_OK) std::_Exit(3);
            });
            static Caller *callers[3]; // never destroyed: their threads call to the end
            for (Caller *&caller : callers) {
                caller = new Caller(nullptr);
                std::thread([&] { caller->run(); }).detach();
            }
            for (const Caller *caller : callers) caller->wait_for_calls(1);
            return 0;
        });
        CHECK(result == 0);
    }
}

TEST_CASE("a thread that is cancelled in a call ends after it") {
    constexpr long most = 1000000; // calls of a thread that is never cancelled
    gyre_context *context = context_of(2);
    for (int round = 0; round < 20; round++) {
        Caller caller(context);
        pthread_t thread;
        REQUIRE(pthread_create(
                    &thread, nullptr,
                    [](void *self) -> void * {
                        int before;
                        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
                        auto &caller = *(Caller *)self;
                        while (caller.calls < most)
                            if (caller.call.run(caller.context) == GYRE_OK) caller.calls++;
                        return nullptr;
                    },
                    &caller) == 0);
        caller.wait_for_calls(2);
        REQUIRE(pthread_cancel(thread) == 0);
        REQUIRE(pthread_join(thread, nullptr) == 0);
        CHECK(caller.calls < most);
        SelfContainedCall call;
        CHECK(call.run(context) == GYRE_OK); // nobody holds the context
    }
    gyre_context_destroy(context);
}

TEST_CASE("signals of the process are not delivered to the pool's threads") {
    static std::atomic<int> elsewhere;
    static pthread_t here;
    elsewhere = 0;
    here = pthread_self();
    struct sigaction handler{}, before{};
    handler.sa_handler = [](int) {
        if (!pthread_equal(pthread_self(), here)) elsewhere++;
    };
    REQUIRE(sigaction(SIGUSR1, &handler, &before) == 0);
    gyre_context *context = context_of(3);
    SelfContainedCall call;
    REQUIRE(call.run(context) == GYRE_OK);
    sigset_t one, mask;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    REQUIRE(pthread_sigmask(SIG_BLOCK, &one, &mask) == 0); // somebody else would have to take it
    REQUIRE(kill(getpid(), SIGUSR1) == 0);
    for (int i = 0; i < 20; i++) REQUIRE(call.run(context) == GYRE_OK);
    sigset_t pending;
    REQUIRE(sigpending(&pending) == 0);
    CHECK(sigismember(&pending, SIGUSR1) == 1);
    REQUIRE(pthread_sigmask(SIG_SETMASK, &mask, nullptr) == 0);
    CHECK(elsewhere == 0);
    gyre_context_destroy(context);
    REQUIRE(sigaction(SIGUSR1, &before, nullptr) == 0);
}

TEST_CASE("signals that a thread handles within its calls change nothing, though their handlers compute") {
    static std::atomic<long> handled;
    handled = 0;
    struct sigaction handler{}, before{};
    handler.sa_handler = [](int) { // in vector registers
        volatile float numbers[64];
        for (int i = 0; i < 64; i++) numbers[i] = static_cast<float>(i) * 1.5f;
        if (numbers[3] == 4.5f) handled++;
    };
    REQUIRE(sigaction(SIGUSR2, &handler, &before) == 0);
    for (const int32_t threads : {1, 3}) {
        gyre_context *const context = context_of(threads);
        SelfContainedCall expected;
        REQUIRE(expected.run(context) == GYRE_OK);
        std::atomic<bool> ended{false};
        std::atomic<int> wrong{0};
        std::thread caller([&] {
            SelfContainedCall call;
            for (int i = 0; i < 300; i++) {
                call.out.assign(call.out.size(), -1);
                if (call.run(context) != GYRE_OK || call.out != expected.out) wrong++;
            }
            ended = true;
        });
        while (!ended) {
            pthread_kill(caller.native_handle(), SIGUSR2);
            std::this_thread::yield();
        }
        caller.join();
        CHECK(wrong == 0);
        gyre_context_destroy(context);
    }
    CHECK(handled > 0);
    REQUIRE(sigaction(SIGUSR2, &before, nullptr) == 0);
}
