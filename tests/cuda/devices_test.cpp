/// Several CUDA devices, the memory that calls take there, streams that are being captured, and drivers that are too old: with the
/// driver that tests/cuda/fake_driver/ is.
#include "device_attention.h"
#include "support/each_kernel.h"

#include <cstdint>
#include <cstdlib>

using namespace gyre::test;

namespace {

/// There are two devices until the end of the scope.
struct TwoDevices {
    TwoDevices() { set(2); }
    ~TwoDevices() { set(1); }
    static void set(int count) { fake<void(int)>("fake_cuda_set_devices")(count); }
};

int last_device() { return fake<int()>("fake_cuda_last_device")(); }
long pools() { return fake<long()>("fake_cuda_pools")(); }
long allocations() { return fake<long()>("fake_cuda_allocations")(); }

/// Two queries to 1000 keys, which takes a workspace, with its tensors on one device.
struct DecodeOn {
    AttentionCase c{AttentionShape().lengths(2, 1000).head_counts(4, 1).dims(64).of(GYRE_BF16)};
    OnDevice device;
    gyre_attention_args args = c.args;
    gyre_tensor lse;

    explicit DecodeOn(int ordinal) : device(ordinal) {
        for (Tensor *t : {&c.q, &c.k, &c.v, &c.out, &c.lse}) device.add(*t);
        for (gyre_tensor *t : {&args.q, &args.k, &args.v, &args.out}) *t = device.view(*t);
        lse = device.view(*c.args.lse);
        args.lse = &lse;
    }
    std::vector<uint64_t> bits() {
        device.fetch();
        return c.out.bits();
    }
};

/// The primary context of a device is current, until the end of the scope.
struct Inside {
    explicit Inside(int device) {
        void *context = nullptr;
        REQUIRE(fake<int(void **, int)>("cuDevicePrimaryCtxRetain")(&context, device) == 0);
        REQUIRE(fake<int(void *)>("cuCtxPushCurrent_v2")(context) == 0);
    }
    ~Inside() {
        void *popped;
        fake<int(void **)>("cuCtxPopCurrent_v2")(&popped);
    }
};

} // namespace

TEST_CASE("a call runs on the device that its tensors are on, with kernels and memory of that device's context") {
    const TwoDevices devices;
    const Context context("cuda");
    std::vector<std::vector<uint64_t>> bits;
    for (const int device : {0, 1, 0}) {
        DecodeOn d(device);
        REQUIRE_MESSAGE(gyre_attention(context, &d.args) == GYRE_OK, text(gyre_last_error()));
        CHECK(last_device() == device);
        CHECK(fake<long()>("fake_cuda_contexts_pushed")() == 0);
        bits.push_back(d.bits());
    }
    CHECK(bits[0] == bits[1]);
    CHECK(bits[0] == bits[2]);
    DecodeOn first(0), second(1);
    first.args.v = second.args.v;
    check_refused_before_launch([&] { return gyre_attention(context, &first.args); }, GYRE_BAD_ARGUMENT, "v");
    CHECK(text(gyre_last_error()).find("is on CUDA device 1, others on 0") != std::string::npos);
}

TEST_CASE("a call on one device leaves the caller's context of that device current, and its stream is of that device") {
    const TwoDevices devices;
    DecodeOn d(1);
    void *stream = nullptr;
    gyre_context *context = nullptr;
    {
        const Inside inside(1);
        REQUIRE(fake<int(void **, unsigned)>("cuStreamCreate")(&stream, 1) == 0);
        gyre_context_options options = gyre_context_defaults();
        options.cuda_stream = stream;
        options.target = "cuda";
        REQUIRE(gyre_context_create(&options, &context) == GYRE_OK);
        CHECK_MESSAGE(gyre_attention(context, &d.args) == GYRE_OK, text(gyre_last_error()));
        CHECK(fake<long()>("fake_cuda_contexts_pushed")() == 1);
        CHECK(fake<void *()>("fake_cuda_last_stream")() == stream);
    }
    DecodeOn elsewhere(0);
    CHECK(gyre_attention(context, &elsewhere.args) == GYRE_INTERNAL); // as the driver says of such a stream
    gyre_context_destroy(context);
}

TEST_CASE("memory of calls is from a pool of each device, which keeps it, on the stream that the call is queued on") {
    const TwoDevices devices;
    const long held = allocations();
    const auto per_thread = reinterpret_cast<void *>(uintptr_t{2}); // CU_STREAM_PER_THREAD
    gyre_context_options options = gyre_context_defaults();
    options.cuda_stream = per_thread;
    options.target = "cuda";
    gyre_context *context = nullptr;
    REQUIRE(gyre_context_create(&options, &context) == GYRE_OK);
    for (const int device : {0, 1}) {
        DecodeOn d(device);
        CHECK_MESSAGE(gyre_attention(context, &d.args) == GYRE_OK, text(gyre_last_error()));
        CHECK(fake<void *()>("fake_cuda_last_stream")() == per_thread);
        const long made = pools();
        REQUIRE(made >= 1);
        CHECK(gyre_attention(context, &d.args) == GYRE_OK);
        CHECK(pools() == made); // once a context
        fail_next("cuMemAllocFromPoolAsync", 2);
        CHECK(gyre_attention(context, &d.args) == GYRE_OUT_OF_MEMORY);
    }
    gyre_context_destroy(context);
    CHECK(allocations() == held);
    bool of_devices[2] = {};
    for (long pool = 0; pool < pools(); pool++) {
        of_devices[fake<int(long)>("fake_cuda_device_of_pool")(pool)] = true;
        CHECK(fake<uint64_t(long)>("fake_cuda_kept_by_pool")(pool) == uint64_t{64} << 20);
    }
    CHECK((of_devices[0] && of_devices[1]));
}

TEST_CASE("a call that is captured first loads its kernels all the same, and a thread's own mode stays as it was") {
    const Context context("cuda");
    AttentionCase c(AttentionShape().lengths(1, 400).head_counts(2, 1).dims(128).of(GYRE_F16));
    c.args.softcap = 3; // whose kernel no other test of this file has loaded
    OnDevice device;
    for (Tensor *t : {&c.q, &c.k, &c.v, &c.out, &c.lse}) device.add(*t);
    gyre_attention_args args = c.args;
    for (gyre_tensor *t : {&args.q, &args.k, &args.v, &args.out}) *t = device.view(*t);
    args.lse = nullptr;
    REQUIRE(fake<int(void *, int)>("cuStreamBeginCapture_v2")(nullptr, 0) == 0);
    CHECK_MESSAGE(gyre_attention(context, &args) == GYRE_OK, text(gyre_last_error()));
    void *graph = nullptr;
    CHECK(fake<int(void *, void **)>("cuStreamEndCapture")(nullptr, &graph) == 0); // nothing has ended it
    int mode = 2;
    fake<int(int *)>("cuThreadExchangeStreamCaptureMode")(&mode);
    CHECK(mode == 0);
    fake<int(int *)>("cuThreadExchangeStreamCaptureMode")(&mode);
}

TEST_CASE("a driver that is too old is refused with its version" * doctest::skip(!std::getenv("FAKE_CUDA_VERSION"))) {
    AttentionCase c(AttentionShape().lengths(1, 40).dims(64).of(GYRE_BF16));
    gyre_attention_args args = c.args;
    for (gyre_tensor *t : {&args.q, &args.k, &args.v, &args.out}) t->device = GYRE_CUDA;
    args.lse = nullptr;
    CHECK(gyre_attention(nullptr, &args) == GYRE_UNSUPPORTED);
    const std::string said = text(gyre_last_error());
    CHECK_MESSAGE(said.find("of CUDA 10.2, is too old, expected 11.0 or later") != std::string::npos, said);
}
