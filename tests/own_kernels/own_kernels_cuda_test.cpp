/// The linear layer of tests/examples/matmul on the tensor cores of a CUDA device, launched by the C API; the device is emulated.
#include "cuda/fake_driver.h"
#include "layer.h"

#include <gyre_test_matmul.h>

#include <array>
#include <cstring>
#include <string>

using gyre::test::fake;

namespace {

const gyre_kernel *cuda_kernel() {
    return gyre_choose_kernel(gyre_test_matmul_kernels, gyre_test_matmul_kernel_count, GYRE_CUDA);
}

/// A copy of an array in the device's memory, described as Halide does.
struct OnDevice {
    uint64_t address = 0;

    template <typename T>
    OnDevice(std::vector<T> &host, Buffer &view) {
        REQUIRE(fake<int(uint64_t *, size_t)>("cuMemAlloc_v2")(&address, host.size() * sizeof(T)) == 0);
        std::memcpy(at(), host.data(), host.size() * sizeof(T)); // the emulated device's memory is this process's
        view.buffer.host = static_cast<uint8_t *>(at());
    }
    ~OnDevice() { fake<int(uint64_t)>("cuMemFree_v2")(address); }
    void *at() const { return reinterpret_cast<void *>(address); }
};

struct Call {
    Layer layer;
    Buffer x, w, bias, out;
    OnDevice x_there, w_there, bias_there, out_there;
    void *arguments[5] = {nullptr, &x.buffer, &w.buffer, &bias.buffer, &out.buffer};

    Call(int M, int N, int K)
        : layer(M, N, K), x(layer.x, K, M), w(layer.w, K, N), bias(layer.bias, N), out(layer.out, N, M),
          x_there(layer.x, x), w_there(layer.w, w), bias_there(layer.bias, bias), out_there(layer.out, out) {}
};

} // namespace

TEST_CASE("a generator of one's own runs on a CUDA device's tensor cores, and gives what the layer is in double") {
    const gyre_kernel *kernel = cuda_kernel();
    REQUIRE(kernel != nullptr);
    const long violations = fake<long()>("fake_cuda_violations")();
    for (const auto &[M, N, K] : {std::array<int, 3>{1, 1, 32}, {64, 64, 32}, {65, 63, 96}, {100, 130, 256}}) {
        CAPTURE(M);
        CAPTURE(N);
        CAPTURE(K);
        Call call(M, N, K);
        const long before = gyre::test::launches();
        REQUIRE_MESSAGE(gyre_run_kernel(kernel, call.arguments, 0, nullptr) == GYRE_OK, std::string(gyre_last_error()));
        CHECK(gyre::test::launches() == before + 1);
        std::memcpy(call.layer.out.data(), call.out_there.at(), call.layer.out.size() * sizeof(uint16_t));
        CHECK(call.layer.worst_error() <= 1);
    }
    CHECK(fake<long()>("fake_cuda_violations")() == violations);
}

TEST_CASE("a launch goes to the caller's stream, and what the driver refuses is a status") {
    Call call(64, 64, 32);
    int stream = 0;
    CHECK(gyre_run_kernel(cuda_kernel(), call.arguments, 0, &stream) == GYRE_OK);
    CHECK(fake<void *()>("fake_cuda_last_stream")() == &stream);
    gyre::test::fail_next("cuLaunchKernel", 2);
    CHECK(gyre_run_kernel(cuda_kernel(), call.arguments, 0, nullptr) == GYRE_OUT_OF_MEMORY);
    gyre::test::fail_next("cuLaunchKernel", 700);
    CHECK(gyre_run_kernel(cuda_kernel(), call.arguments, 0, nullptr) == GYRE_INTERNAL);
    CHECK(std::string(gyre_last_error()).find("gyre_test_matmul__cuda") != std::string::npos);
    CHECK(gyre_run_kernel(cuda_kernel(), call.arguments, 0, nullptr) == GYRE_OK);
    CHECK(fake<long()>("fake_cuda_contexts_pushed")() == 0);
}
