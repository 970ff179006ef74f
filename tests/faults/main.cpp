/// Every allocation of every operation fails in turn, in a process of its own where nothing has been called before: the call
/// reports it and writes nothing, the next one works, and nothing is left over. Then the same without threads.
#include "operations.h"
#include "resources.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace gyre::test;

namespace {

constexpr float untouched = -12345;
constexpr long never = 1 << 30; // allocation
constexpr size_t most_numbers = 1 << 16;

/// What processes tell each other.
struct Shared {
    float expected[most_numbers];
    long live_blocks;
    bool failed; // an allocation did
};

int complain(const Operation &o, long nth, const char *what) {
    std::fprintf(stderr, "%s, allocation %ld: %s (%s)\n", o.name.c_str(), nth, what, gyre_last_error());
    return 1;
}

bool is_untouched(const Operation &o) {
    if (o.written)
        for (const float x : *o.written)
            if (x != untouched) return false;
    return true;
}

bool is_expected(const Operation &o, const Shared &shared) {
    return !o.written || std::memcmp(o.written->data(), shared.expected, o.written->size() * sizeof(float)) == 0;
}

/// In a process of its own. `nth` negative: nothing fails, and what is then written and left over is what is expected.
int try_operation(const Operation &o, long nth, Shared &shared) {
    const long before = resources::live_blocks();
    if (o.written) o.written->assign(o.written->size(), untouched);
    resources::fail_allocation(nth);
    const gyre_status status = o.run();
    shared.failed = resources::allocation_failed();
    resources::fail_allocation(-1);
    if (nth < 0) {
        if (status != GYRE_OK) return complain(o, nth, "failed though nothing else did");
        if (o.written) std::memcpy(shared.expected, o.written->data(), o.written->size() * sizeof(float));
    } else {
        if (status != GYRE_OK && status != GYRE_OUT_OF_MEMORY) return complain(o, nth, "another status");
        if (status == GYRE_OUT_OF_MEMORY && gyre_last_error_argument())
            return complain(o, nth, "an argument is blamed");
        if (status == GYRE_OK ? !is_expected(o, shared) : !is_untouched(o)) return complain(o, nth, "what is written");
    }
    if (o.run() != GYRE_OK) return complain(o, nth, "the next call failed");
    if (!is_expected(o, shared)) return complain(o, nth, "what the next call wrote");
    const long left = resources::live_blocks() - before;
    if (nth < 0) shared.live_blocks = left;
    if (left != shared.live_blocks) return complain(o, nth, "blocks are left over, or freed twice");
    return 0;
}

/// 0: the process ended as it should.
int in_process(const Operation &o, long nth, Shared &shared) {
    const pid_t child = fork();
    if (child == 0) std::exit(try_operation(o, nth, shared));
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return complain(o, nth, "no process");
    if (WIFSIGNALED(status))
        std::fprintf(stderr, "%s, allocation %ld: signal %d\n", o.name.c_str(), nth, WTERMSIG(status));
    return status != 0;
}

} // namespace

int main() {
    auto *shared = (Shared *)mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    std::setvbuf(stdout, nullptr, _IOLBF, 0); // processes that begin here have no lines of it to write again
    int failures = 0;
    for (const int threads : {1, 3})
        for (const Operation &o : operations(Kind{threads})) {
            if (o.written && o.written->size() > most_numbers) return complain(o, 0, "too large for this program");
            long nth = -1;
            do {
                failures += in_process(o, nth, *shared);
                nth++;
            } while (nth == 0 || shared->failed);
            std::printf("%-16s %d thread(s): %ld allocations failed in turn\n", o.name.c_str(), threads, nth - 1);
            if (nth < 2 && o.name != "frequencies") failures += complain(o, nth, "nothing was allocated");
            resources::refuse_threads(true);
            failures += in_process(o, never, *shared);
            resources::refuse_threads(false);
        }
    std::printf("%d failure(s)\n", failures);
    return failures != 0;
}
