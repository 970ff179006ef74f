/// Kernels of gyre_add_generator(): the linear layer of tests/examples/matmul, and how the C API chooses and runs them.
#include "layer.h"

#include <doctest/doctest.h>
#include <gyre_test_matmul.h>

#include <array>
#include <string>

namespace {

#ifndef GYRE_EMULATED_TARGET
#define GYRE_EMULATED_TARGET "none"
#endif

bool runs_here(const gyre_kernel &kernel) { return gyre_choose_kernel(&kernel, 1, GYRE_CPU) == &kernel; }

struct Call {
    Layer layer;
    Buffer x, w, bias, out;
    void *arguments[5] = {nullptr, &x.buffer, &w.buffer, &bias.buffer, &out.buffer};

    Call(int M, int N, int K)
        : layer(M, N, K), x(layer.x, K, M), w(layer.w, K, N), bias(layer.bias, N), out(layer.out, N, M) {}
};

/// Runs a kernel by the C API, or where that refuses an emulated target, as it would.
void run(const gyre_kernel &kernel, Call &call) {
    if (runs_here(kernel)) {
        REQUIRE_MESSAGE(gyre_run_kernel(&kernel, call.arguments, 0, nullptr) == GYRE_OK,
                        std::string(gyre_last_error()));
        return;
    }
    void *none = nullptr;
    call.arguments[0] = &none;
    REQUIRE(kernel.call(call.arguments) == 0);
}

} // namespace

TEST_CASE("a generator of one's own gives what the layer is in double, on every target that runs or is emulated") {
    int ran = 0;
    for (const gyre_kernel &kernel : gyre_test_matmul_kernels) {
        if (kernel.image || !(runs_here(kernel) || std::string(kernel.target) == GYRE_EMULATED_TARGET)) continue;
        for (const auto &[M, N, K] :
             {std::array<int, 3>{1, 1, 1}, {5, 7, 3}, {6, 64, 32}, {33, 65, 31}, {64, 96, 130}, {100, 130, 257}}) {
            CAPTURE(std::string(kernel.name));
            CAPTURE(M);
            CAPTURE(N);
            CAPTURE(K);
            Call call(M, N, K);
            run(kernel, call);
            CHECK(call.layer.worst_error() <= 1);
        }
        ran++;
    }
    CHECK(ran >= 1);
}

TEST_CASE("the tolerance finds one product that is left out") {
    Call call(8, 8, 64);
    const gyre_kernel *kernel = gyre_choose_kernel(gyre_test_matmul_kernels, gyre_test_matmul_kernel_count, GYRE_CPU);
    REQUIRE(kernel != nullptr);
    run(*kernel, call);
    call.layer.x[5] = 0;
    CHECK(call.layer.worst_error() > 1);
}

TEST_CASE("the best kernel that runs here is chosen, and none where there is none") {
    const gyre_kernel *chosen = gyre_choose_kernel(gyre_test_matmul_kernels, gyre_test_matmul_kernel_count, GYRE_CPU);
    for (const gyre_kernel &kernel : gyre_test_matmul_kernels)
        if (runs_here(kernel)) {
            CHECK(chosen == &kernel);
            break;
        }
    CHECK(gyre_choose_kernel(gyre_test_matmul_kernels, 0, GYRE_CPU) == nullptr);
    CHECK(gyre_choose_kernel(nullptr, 1, GYRE_CPU) == nullptr);
    CHECK(gyre_choose_kernel(chosen, 1, GYRE_CUDA) == nullptr);
    gyre_kernel elsewhere = *chosen;
    elsewhere.target = "cortex_m55";
    CHECK(gyre_choose_kernel(&elsewhere, 1, GYRE_CPU) == nullptr);
}

TEST_CASE("running a kernel of one's own refuses what it cannot do by name") {
    const gyre_kernel *chosen = gyre_choose_kernel(gyre_test_matmul_kernels, gyre_test_matmul_kernel_count, GYRE_CPU);
    REQUIRE(chosen != nullptr);
    Call call(4, 4, 4);
    const auto refused = [](gyre_status status, gyre_status expected, const char *named) {
        CHECK(status == expected);
        CHECK(std::string(gyre_last_error()).find(named) != std::string::npos);
    };
    refused(gyre_run_kernel(nullptr, call.arguments, 0, nullptr), GYRE_BAD_ARGUMENT, "kernel");
    refused(gyre_run_kernel(chosen, nullptr, 0, nullptr), GYRE_BAD_ARGUMENT, "arguments");
    gyre_kernel kernel = *chosen;
    kernel.target = "cortex_m55";
    refused(gyre_run_kernel(&kernel, call.arguments, 0, nullptr), GYRE_UNSUPPORTED, chosen->name);
    kernel = *chosen;
    kernel.image = "machine code of a device";
    refused(gyre_run_kernel(&kernel, call.arguments, -1, nullptr), GYRE_BAD_ARGUMENT, "device");
    refused(gyre_run_kernel(&kernel, call.arguments, 0, nullptr), GYRE_UNSUPPORTED, chosen->name);
    kernel = *chosen;
    kernel.call = [](void **) { return -7; };
    refused(gyre_run_kernel(&kernel, call.arguments, 0, nullptr), GYRE_INTERNAL, "-7");
}
