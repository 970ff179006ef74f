/// Runs a fuzzer without libFuzzer: on the bytes that follow from seeds, or on files.
///
///     calls --from 1 --seeds 2000      the seeds 1 .. 2000; a finding ends it, and its seed is printed
///     calls --seeds 2000 --go-on       every seed, whatever is found; the status tells whether something was
///     calls --minutes 60 --go-on       as many seeds as there is time for, from 1 on
///     calls finding.bin                the bytes of a file
#include "seeds.h"

#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

namespace {

using Clock = std::chrono::steady_clock;

/// What the process that calls tells the one that waits for it.
struct Progress {
    unsigned long seed;
};

struct Options {
    unsigned long from = 1, seeds = 1000;
    bool go_on = false;
    Clock::time_point end = Clock::time_point::max(); // no seed begins after it
};

int run_files(int count, char **names) {
    for (int i = 0; i < count; i++) {
        std::ifstream file(names[i], std::ios::binary);
        if (!file) return std::fprintf(stderr, "cannot read %s\n", names[i]), 2;
        const std::string bytes((std::istreambuf_iterator<char>(file)), {});
        LLVMFuzzerTestOneInput((const uint8_t *)bytes.data(), bytes.size());
    }
    return 0;
}

/// In a process of its own from `first` on, until a finding; false: there was none.
bool find_next(unsigned long first, const Options &o, Progress *progress) {
    const pid_t child = fork();
    if (child == 0) {
        for (unsigned long seed = first; seed < o.from + o.seeds && Clock::now() < o.end; seed++) {
            progress->seed = seed;
            const std::vector<uint8_t> bytes = gyre::fuzz::bytes_of_seed(seed);
            LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
        }
        std::exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) std::abort();
    if (status != 0) std::fprintf(stderr, "^ seed %lu\n\n", progress->seed);
    return status != 0;
}

int run_seeds(const Options &o) {
    auto *progress =
        (Progress *)mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED) return 2;
    unsigned long findings = 0, next = o.from;
    while (next < o.from + o.seeds && find_next(next, o, progress)) {
        findings++;
        next = progress->seed + 1;
        if (!o.go_on) break;
    }
    std::printf("seeds %lu .. %lu: %lu finding(s)\n", o.from, progress->seed, findings);
    return findings != 0;
}

} // namespace

int main(int argc, char **argv) {
    // Memory that calls have freed stays with the process, as in the tests (../main.cpp).
    mallopt(M_MMAP_THRESHOLD, 1 << 25);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    Options o;
    int i = 1;
    for (; i < argc && !std::strncmp(argv[i], "--", 2); i++) {
        if (!std::strcmp(argv[i], "--go-on"))
            o.go_on = true;
        else if (!std::strcmp(argv[i], "--from") && i + 1 < argc)
            o.from = std::strtoul(argv[++i], nullptr, 10);
        else if (!std::strcmp(argv[i], "--seeds") && i + 1 < argc)
            o.seeds = std::strtoul(argv[++i], nullptr, 10);
        else if (!std::strcmp(argv[i], "--minutes") && i + 1 < argc) {
            const auto seconds = (long)(60 * std::strtod(argv[++i], nullptr));
            o.end = Clock::now() + std::chrono::seconds(seconds);
            o.seeds = ULONG_MAX - o.from;
        } else {
            return std::fprintf(stderr, "usage: %s [--from N] [--seeds N | --minutes N] [--go-on] | FILE…\n", argv[0]),
                   2;
        }
    }
    return i < argc ? run_files(argc - i, argv + i) : run_seeds(o);
}
