// Libraries of kernels that register themselves: who is asked first, who is left out, and what is refused.
#include "support/each_kernel.h"
#include "support/said_arguments.h"

#include <gyre/kernels.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <malloc.h>
#include <sys/mman.h>

using namespace gyre::test;

namespace {

std::atomic<int> calls_of_stand_in{0};
int stand_in(void **) {
    calls_of_stand_in++;
    return 0;
}

/// A library with one kernel for one call of gyre_rotary(); it computes nothing, and counts that it was asked.
struct StandIn {
    gyre_kernel kernel;
    gyre_kernel_library library;

    explicit StandIn(const char *name, const char *target)
        : kernel{"rotary_stand_in", "rotary", "stand_in", target,         "dtype=float32 pairing=half workspace=0",
                 "default",         stand_in, nullptr,    rotary_metadata},
          library{sizeof library, GYRE_KERNEL_INTERFACE, name, &kernel, 1} {}
    StandIn(const StandIn &) = delete;
    ~StandIn() { gyre_unregister_kernels(&library); }
};

/// A library in memory that cannot be read once it is destroyed, as if it had been unloaded.
class LoadedLibrary {
public:
    LoadedLibrary(const char *name, const char *target) {
        pages_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(pages_ != MAP_FAILED);
        auto *image = new (pages_) Image;
        char *free = image->text;
        const auto copy = [&](const char *text) {
            char *const begin = free;
            free += std::strlen(text) + 1;
            return (const char *)std::memcpy(begin, text, (size_t)(free - begin));
        };
        const StandIn model(name, target);
        image->kernel = model.kernel;
        for (const char **text : {&image->kernel.name, &image->kernel.operation, &image->kernel.variant,
                                  &image->kernel.target, &image->kernel.attributes, &image->kernel.evidence})
            *text = copy(*text);
        image->library = model.library;
        image->library.name = copy(name);
        image->library.kernels = &image->kernel;
    }
    ~LoadedLibrary() { munmap(pages_, bytes); }
    LoadedLibrary(const LoadedLibrary &) = delete;

    const gyre_kernel_library *get() const { return &((const Image *)pages_)->library; }

private:
    struct Image {
        gyre_kernel kernel;
        gyre_kernel_library library;
        char text[512];
    };
    static constexpr size_t bytes = 4096;
    void *pages_;
};

/// Rotates one token in place; the cosines come from a table, so that no other kernel is needed.
gyre_status rotate(gyre_context *context) {
    static thread_local float x[2] = {1, 0}; // calls of several threads may be at once
    static float cos[1] = {1}, sin[1] = {0};
    const int64_t shape[4] = {1, 1, 1, 2}, table[2] = {1, 1};
    const gyre_tensor c = gyre_tensor_dense(cos, GYRE_F32, 2, table), s = gyre_tensor_dense(sin, GYRE_F32, 2, table);
    gyre_rotary_args args = gyre_rotary_defaults();
    args.x = args.out = gyre_tensor_dense(x, GYRE_F32, 4, shape);
    args.rope.cos = &c;
    args.rope.sin = &s;
    return gyre_rotary(context, &args);
}

std::string best_target() { return runnable_targets().front(); }

gyre_context_options of_library(const char *name) {
    gyre_context_options options = gyre_context_defaults();
    options.library = name;
    options.threads = 1;
    return options;
}

} // namespace

TEST_CASE("of two kernels for the same call the one registered last is asked, until it is taken away") {
    const std::string target = best_target();
    const Context context(target.c_str());
    StandIn first("first", target.c_str()), second("second", target.c_str());
    const int32_t before = gyre_kernel_count();
    REQUIRE(gyre_register_kernels(&first.library) == GYRE_OK);
    REQUIRE(gyre_register_kernels(&second.library) == GYRE_OK);
    CHECK(gyre_kernel_count() == before + 2);

    calls_of_stand_in = 0;
    REQUIRE(rotate(context) == GYRE_OK);
    CHECK(calls_of_stand_in == 1);
    CHECK(text(gyre_selected_library(context)) == "second");

    REQUIRE(gyre_unregister_kernels(&second.library) == GYRE_OK);
    REQUIRE(rotate(context) == GYRE_OK);
    CHECK(text(gyre_selected_library(context)) == "first");

    REQUIRE(gyre_unregister_kernels(&first.library) == GYRE_OK);
    REQUIRE(rotate(context) == GYRE_OK);
    CHECK(text(gyre_selected_library(context)) == "gyre");
    CHECK(calls_of_stand_in == 2);
    CHECK(gyre_kernel_count() == before);
}

TEST_CASE("a kernel that takes more memory than it says is a failure, and takes none that is not its own") {
    const std::string target = best_target();
    const Context context(target.c_str());
    static size_t wanted = 0;
    StandIn greedy("greedy", target.c_str());
    greedy.kernel.attributes = "dtype=float32 pairing=half workspace=128"; // a block's header, and 64 bytes
    greedy.kernel.call = [](void **arguments) {
        void *slab = *(void **)arguments[0];
        void *memory = gyre_kernel_malloc(slab, wanted);
        if (!memory) return 1;
        std::memset(memory, 0, wanted);
        gyre_kernel_free(slab, memory);
        return 0;
    };
    REQUIRE(gyre_register_kernels(&greedy.library) == GYRE_OK);
    for (wanted = 63; wanted <= 130; wanted++) {
        CAPTURE(wanted);
        CHECK(rotate(context) == (wanted <= 64 ? GYRE_OK : GYRE_INTERNAL));
    }
}

TEST_CASE("a context that is bound to a library runs its kernels only") {
    const std::string target = best_target();
    StandIn other("other", target.c_str());
    REQUIRE(gyre_register_kernels(&other.library) == GYRE_OK);
    gyre_context *bound = nullptr, *prebuilt = nullptr;
    const gyre_context_options options[] = {of_library("other"), of_library("gyre")};
    REQUIRE(gyre_context_create(&options[0], &bound) == GYRE_OK);
    REQUIRE(gyre_context_create(&options[1], &prebuilt) == GYRE_OK);
    CHECK(rotate(bound) == GYRE_OK);
    CHECK(text(gyre_selected_library(bound)) == "other");
    CHECK(rotate(prebuilt) == GYRE_OK);
    CHECK(text(gyre_selected_library(prebuilt)) == "gyre");

    // What that library lacks is not taken from another.
    float zero[64] = {}, out[64];
    const int64_t shape[4] = {1, 1, 1, 64};
    gyre_attention_args args = gyre_attention_defaults();
    args.q = args.k = args.v = gyre_tensor_dense(zero, GYRE_F32, 4, shape);
    args.out = gyre_tensor_dense(out, GYRE_F32, 4, shape);
    CHECK(gyre_attention(bound, &args) == GYRE_UNSUPPORTED);
    CHECK(gyre_attention(prebuilt, &args) == GYRE_OK);
    gyre_context_destroy(bound);
    gyre_context_destroy(prebuilt);

    gyre_context *none = nullptr;
    const gyre_context_options wrong = of_library("nobody's");
    CHECK(gyre_context_create(&wrong, &none) == GYRE_BAD_ARGUMENT);
    CHECK(text(gyre_last_error()).find("library: got \"nobody's\"") != std::string::npos);
    CHECK(text(gyre_last_error()).find("other") != std::string::npos);
}

TEST_CASE("kernels of another architecture are listed and never run") {
    StandIn foreign("foreign", "abacus_9_beads");
    REQUIRE(gyre_register_kernels(&foreign.library) == GYRE_OK);
    gyre_kernel_info info;
    REQUIRE(gyre_kernel_at(gyre_kernel_count() - 1, &info));
    CHECK(text(info.library) == "foreign");
    CHECK(info.runnable == 0);
    CHECK(gyre_kernel_at(gyre_kernel_count(), &info) == 0);
    gyre_context *none = nullptr;
    const gyre_context_options options = of_library("foreign");
    CHECK(gyre_context_create(&options, &none) == GYRE_UNSUPPORTED);
}

TEST_CASE("libraries that cannot be registered are refused by name") {
    const std::string target = best_target();
    StandIn good("good", target.c_str());
    CHECK(gyre_register_kernels(nullptr) == GYRE_BAD_ARGUMENT);
    CHECK(gyre_unregister_kernels(nullptr) == GYRE_BAD_ARGUMENT);
    CHECK(gyre_unregister_kernels(&good.library) == GYRE_BAD_ARGUMENT);

    StandIn older("older", target.c_str());
    older.library.kernel_interface = GYRE_KERNEL_INTERFACE + 1;
    CHECK(gyre_register_kernels(&older.library) == GYRE_UNSUPPORTED);
    CHECK(text(gyre_last_error()).find("\"older\"") != std::string::npos);
    CHECK(text(gyre_last_error_argument()) == "library.kernel_interface");
    older.library.kernel_interface = GYRE_KERNEL_INTERFACE;
    older.library.size--;
    CHECK(gyre_register_kernels(&older.library) == GYRE_BAD_ARGUMENT);
    StandIn nameless(nullptr, target.c_str());
    CHECK(gyre_register_kernels(&nameless.library) == GYRE_BAD_ARGUMENT);

    REQUIRE(gyre_register_kernels(&good.library) == GYRE_OK);
    StandIn same("good", target.c_str()), prebuilt("gyre", target.c_str());
    CHECK(gyre_register_kernels(&same.library) == GYRE_BAD_ARGUMENT);
    CHECK(gyre_register_kernels(&prebuilt.library) == GYRE_BAD_ARGUMENT);
    CHECK(text(gyre_last_error()).find("\"gyre\"") != std::string::npos);
}

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
