/// The entry of the test program, and the line that says which targets it exercised.
#define DOCTEST_CONFIG_IMPLEMENT
#include "support/each_kernel.h"

#include <cstdio>
#include <malloc.h>

int main(int argc, char **argv) {
    // Memory that tests have freed stays with the process: asking the kernel for it again and again took a twentieth of their time.
    mallopt(M_MMAP_THRESHOLD, 1 << 25); // the largest that is taken
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    doctest::Context context(argc, argv);
    const int result = context.run();
    if (context.shouldExit()) return result;

    int skipped = 0;
    for (const auto &[name, tally] : gyre::test::target_tally()) {
        if (tally.skipped_because.empty()) {
            std::printf("target %-24s exercised %ld times\n", name.c_str(), tally.runs);
        } else {
            std::printf("target %-24s SKIPPED: %s\n", name.c_str(), tally.skipped_because.c_str());
            skipped++;
        }
    }
    if (skipped) std::printf("%d target(s) skipped on this machine\n", skipped);
    return result;
}
