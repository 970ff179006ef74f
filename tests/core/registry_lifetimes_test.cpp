// Libraries of kernels that come and go beside calls, contexts and each other.
#include "support/stand_in_library.h"

#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include <malloc.h>

using namespace gyre::test;

TEST_CASE("a library comes and goes, memory and all, beside calls that never run its kernels") {
    std::atomic<bool> stop{false};
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int i = 0; i < 2; i++)
        callers.emplace_back([&] {
            gyre_context_options options = gyre_context_defaults();
            options.threads = 1;
            gyre_context *context = nullptr;
            gyre_kernel_info info;
            if (gyre_context_create(&options, &context) != GYRE_OK) wrong++;
            while (!stop) {
                if (rotate(context) != GYRE_OK || text(gyre_selected_library(context)) != "gyre") wrong++;
                if (gyre_kernel_at(gyre_kernel_count() - 1, &info) && (!*info.name || !*info.library)) wrong++;
            }
            gyre_context_destroy(context);
        });
    for (int round = 0; round < 3000; round++) {
        const LoadedLibrary library("passing", "abacus_9_beads");
        if (gyre_register_kernels(library.get()) != GYRE_OK) wrong++;
        if (round % 2) std::this_thread::yield(); // a call may begin with the library there
        if (gyre_unregister_kernels(library.get()) != GYRE_OK) wrong++;
    }
    stop = true;
    for (std::thread &caller : callers) caller.join();
    CHECK(wrong == 0);
}

TEST_CASE("libraries that serve calls come while these run: a call gets kernels of one that is there, and never of an "
          "older one again") {
    const std::string target = best_target();
    constexpr int libraries = 40;
    std::vector<std::string> names;
    for (int n = 0; n < libraries; n++) names.push_back("served" + std::to_string(n));
    std::atomic<bool> stop{false};
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int i = 0; i < 2; i++)
        callers.emplace_back([&] {
            gyre_context_options options = gyre_context_defaults();
            options.threads = 1;
            options.target = target.c_str();
            gyre_context *context = nullptr;
            if (gyre_context_create(&options, &context) != GYRE_OK) wrong++;
            for (int last = -1; !stop;) {
                if (rotate(context) != GYRE_OK) wrong++;
                const std::string library = gyre_selected_library(context);
                const int now = library == "gyre" ? -1 : std::stoi(library.substr(6));
                if (now < last) wrong++;
                last = now;
            }
            gyre_context_destroy(context);
        });
    std::deque<StandIn> all;
    {
        const Context context(target.c_str());
        for (const std::string &name : names) {
            all.emplace_back(name.c_str(), target.c_str());
            if (gyre_register_kernels(&all.back().library) != GYRE_OK) wrong++;
            if (rotate(context) != GYRE_OK || gyre_selected_library(context) != name) wrong++;
            std::this_thread::yield();
        }
    }
    stop = true;
    for (std::thread &caller : callers) caller.join();
    CHECK(wrong == 0);
}

TEST_CASE("what a context tells of its last call outlives the library that the kernel was of") {
    const std::string target = best_target();
    const Context context(target.c_str());
    {
        const LoadedLibrary library("leaving", target.c_str());
        REQUIRE(gyre_register_kernels(library.get()) == GYRE_OK);
        REQUIRE(rotate(context) == GYRE_OK);
        REQUIRE(gyre_unregister_kernels(library.get()) == GYRE_OK);
    }
    CHECK(text(gyre_selected_kernel(context)) == "rotary_stand_in");
    CHECK(text(gyre_selected_library(context)) == "leaving");
    REQUIRE(rotate(context) == GYRE_OK);
    CHECK(text(gyre_selected_library(context)) == "gyre");
}

#if defined(__GLIBC__)
TEST_CASE("libraries that come and go again and again leave no memory behind") {
    const auto cycle = [] {
        const Context context(nullptr);
        const LoadedLibrary library("again", "x86_64_generic");
        REQUIRE(gyre_register_kernels(library.get()) == GYRE_OK);
        REQUIRE(rotate(context) == GYRE_OK);
        REQUIRE(gyre_unregister_kernels(library.get()) == GYRE_OK);
        REQUIRE(rotate(context) == GYRE_OK);
    };
    for (int i = 0; i < 20; i++) cycle();
    const size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 200; i++) cycle();
    const size_t after = mallinfo2().uordblks;
    CHECK(after <= before + 200 * 100); // bytes; a list of kernels alone has tens of thousands
}
#endif
