// Libraries of kernels that register themselves: who is asked first, who is left out, and what is refused.
#include "support/stand_in_library.h"

#include <deque>
#include <vector>

using namespace gyre::test;

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
    CHECK(text(gyre_last_error_argument()) == "library");
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
    CHECK(text(gyre_last_error_argument()) == "library.name");
    StandIn without_kernels("without_kernels", target.c_str());
    without_kernels.library.kernels = nullptr;
    CHECK(gyre_register_kernels(&without_kernels.library) == GYRE_BAD_ARGUMENT);
    CHECK(text(gyre_last_error_argument()) == "library.kernels");

    REQUIRE(gyre_register_kernels(&good.library) == GYRE_OK);
    StandIn same("good", target.c_str()), prebuilt("gyre", target.c_str());
    CHECK(gyre_register_kernels(&same.library) == GYRE_BAD_ARGUMENT);
    CHECK(gyre_register_kernels(&prebuilt.library) == GYRE_BAD_ARGUMENT);
    CHECK(text(gyre_last_error()).find("\"gyre\"") != std::string::npos);
}
