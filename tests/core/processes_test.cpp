/// Calls beside what a process does with itself: fork(), exit(), cancelled threads, signals, and floating-point modes.
#include "support/attention_case.h"
#include "support/each_kernel.h"

#include <atomic>
#include <cfenv>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using namespace gyre::test;

extern "C" __attribute__((weak)) void __asan_init();

namespace {

/// AddressSanitizer's malloc() hangs in a child process, if another thread was in it when the process was copied.
bool has_fork_safe_malloc() { return !__asan_init; }

/// A call with tasks for several threads; its memory is its own, and it may be made where nothing can be checked.
struct Call {
    std::vector<float> q, k, v, out;
    gyre_attention_args args = gyre_attention_defaults();

    explicit Call(float scale = 1) : q(2 * 64 * 2 * 64), k(q.size()), v(q.size()), out(q.size(), -1) {
        for (size_t i = 0; i < q.size(); i++) {
            q[i] = scale * (float)(i % 13) / 13;
            k[i] = (float)(i % 7) / 7;
            v[i] = scale * (float)(i % 11) / 11;
        }
        const int64_t shape[4] = {2, 64, 2, 64};
        args.q = gyre_tensor_dense(q.data(), GYRE_F32, 4, shape);
        args.k = gyre_tensor_dense(k.data(), GYRE_F32, 4, shape);
        args.v = gyre_tensor_dense(v.data(), GYRE_F32, 4, shape);
        args.out = gyre_tensor_dense(out.data(), GYRE_F32, 4, shape);
        args.causal = 1;
    }
    gyre_status run(gyre_context *context) { return gyre_attention(context, &args); }
};

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

gyre_context *context_of(int32_t threads) {
    gyre_context_options options = gyre_context_defaults();
    options.threads = threads;
    gyre_context *context = nullptr;
    REQUIRE_MESSAGE(gyre_context_create(&options, &context) == GYRE_OK, text(gyre_last_error()));
    return context;
}

/// Calls until told to stop; the first that fails ends it.
struct Caller {
    std::atomic<bool> stop{false};
    std::atomic<long> calls{0};
    gyre_context *context;
    Call call;

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
    Call call;
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
            Call call;
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
                Call call;
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
        Call call;
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
    Call call;
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
        Call expected;
        REQUIRE(expected.run(context) == GYRE_OK);
        std::atomic<bool> ended{false};
        std::atomic<int> wrong{0};
        std::thread caller([&] {
            Call call;
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

TEST_CASE("results do not depend on the caller's floating-point modes, which stay as they are") {
    Call call(1e-20f); // products are subnormal
    gyre_context *one = context_of(1), *expected_of = context_of(1);
    REQUIRE(call.run(expected_of) == GYRE_OK);
    const std::vector<float> expected = call.out;
    const auto check = [&] {
        gyre_context *several = context_of(3); // whose threads start here
        for (gyre_context *context : {one, several}) {
            call.out.assign(call.out.size(), -1);
            CHECK(call.run(context) == GYRE_OK);
            CHECK(call.out == expected);
        }
        gyre_context_destroy(several);
    };
    for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        REQUIRE(std::fesetround(rounding) == 0);
        check();
        CHECK(std::fegetround() == rounding);
        REQUIRE(std::fesetround(FE_TONEAREST) == 0);
    }
#if defined(__x86_64__)
    const unsigned before = _mm_getcsr();
    for (const unsigned modes : {0x8000u, 0x0040u, 0x8040u}) { // FTZ, DAZ
        _mm_setcsr((before & ~0x3fu) | modes);
        const unsigned set = _mm_getcsr();
        check();
        const unsigned after = _mm_getcsr();
        _mm_setcsr(before);
        CHECK((after & ~0x3fu) == (set & ~0x3fu)); // but for flags of this program's own arithmetic
    }
#endif
    gyre_context_destroy(one);
    gyre_context_destroy(expected_of);
}

#if defined(__x86_64__) && defined(__linux__)
TEST_CASE("the system is not asked for matrix tiles by a context of a target that has none") {
    const auto permitted = [] { // ARCH_GET_XCOMP_PERM; 0 where the system does not know it
        uint64_t features = 0;
        return syscall(SYS_arch_prctl, 0x1022, &features) == 0 ? features : 0;
    };
    const uint64_t before = permitted();
    const Context context("x86_64_generic");
    Call call;
    REQUIRE(call.run(context) == GYRE_OK);
    gyre_target_info target;
    for (int32_t i = 0; gyre_target_at(i, &target); i++) CHECK(*gyre_cpu_features());
    CHECK(permitted() == before);
}
#endif
