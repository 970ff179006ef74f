/// How calls reach a CUDA device, and what is said when they cannot: with the driver that tests/cuda/fake_driver/ is.
#include "device_attention.h"
#include "support/append_case.h"
#include "support/each_kernel.h"
#include "support/rotary_case.h"

#include <cmath>

using namespace gyre::test;

namespace {

/// A rotation of tensors on the device.
struct Call {
    RotaryCase c{RotaryShape().batches(2).length(5).head_count(3).dim(64).of(GYRE_BF16)};
    OnDevice device;
    gyre_rotary_args args = c.args;

    Call() {
        device.add(c.x);
        device.add(c.out);
        args.x = device.view(c.args.x);
        args.out = device.view(c.args.out);
    }
};

void check_refusal(const Call &k, gyre_context *context, gyre_status status, const char *named) {
    check_refused_before_launch([&] { return gyre_rotary(context, &k.args); }, status, named);
    CHECK(fake<long()>("fake_cuda_contexts_pushed")() == 0);
}

} // namespace

TEST_CASE("tensors on a CUDA device are computed there, on the caller's stream, whatever the context's threads") {
    int stream = 0;
    gyre_context_options options = gyre_context_defaults();
    options.cuda_stream = &stream;
    gyre_context *context = nullptr;
    REQUIRE(gyre_context_create(&options, &context) == GYRE_OK);
    Call k;
    const long before = launches();
    CHECK(gyre_rotary(context, &k.args) == GYRE_OK);
    CHECK(launches() == before + 1); // nothing is copied, so the whole window is one launch
    CHECK(fake<void *()>("fake_cuda_last_stream")() == &stream);
    CHECK(text(gyre_selected_kernel(context)) == "rotary_bf16_half__cuda");
    CHECK(fake<long()>("fake_cuda_contexts_pushed")() == 0);
    size_t bytes = 1;
    CHECK(gyre_rotary_workspace_size(context, &k.args, &bytes) == GYRE_OK);
    gyre_context_destroy(context);
}

TEST_CASE(
    "a tensor on the CPU among others on a CUDA device is refused by its name, and so is memory that is no device's") {
    Call k;
    k.args.out = k.c.args.out;
    check_refusal(k, nullptr, GYRE_UNSUPPORTED, "x out");
    Call host;
    host.args.x.data = host.c.args.x.data;
    check_refusal(host, nullptr, GYRE_BAD_ARGUMENT, "x");
    Call far;
    far.args.out.strides[0] = 1 << 20;
    check_refusal(far, nullptr, GYRE_BAD_ARGUMENT, "out");
    Call positions;
    positions.args.positions = positions.c.hold(GYRE_I32, {0, 1, 2, 3, 4});
    check_refusal(positions, nullptr, GYRE_UNSUPPORTED, "positions");
}

TEST_CASE("a context that is bound to the CPU refuses tensors on a CUDA device, and the other way round") {
    Call k;
    for (const gyre_target_info &info : all_targets()) {
        if (!info.linked || !info.runnable) continue;
        const Context context(info.name);
        if (info.device == GYRE_CPU) {
            check_refusal(k, context, GYRE_UNSUPPORTED, "x");
        } else {
            check_refused("x", gyre_rotary(context, &k.c.args), GYRE_UNSUPPORTED, "x");
        }
    }
}

TEST_CASE("what the driver refuses is a status with its reason, and the next call works") {
    struct Failure {
        const char *function;
        int result;
        gyre_status status;
    };
    const Context context("cuda");
    Call k;
    for (const Failure &f :
         {Failure{"cuDevicePrimaryCtxRetain", 2, GYRE_OUT_OF_MEMORY},
          Failure{"cuDevicePrimaryCtxRetain", 3, GYRE_INTERNAL}, Failure{"cuModuleLoadData", 209, GYRE_UNSUPPORTED},
          Failure{"cuModuleLoadData", 222, GYRE_UNSUPPORTED}, Failure{"cuModuleLoadData", 200, GYRE_UNSUPPORTED},
          Failure{"cuModuleLoadData", 2, GYRE_OUT_OF_MEMORY}, Failure{"cuLaunchKernel", 2, GYRE_OUT_OF_MEMORY},
          Failure{"cuLaunchKernel", 700, GYRE_INTERNAL}}) {
        CAPTURE(text(f.function));
        k.args.rope.pairing = GYRE_INTERLEAVED; // whose kernel is not loaded yet
        fail_next(f.function, f.result);
        CHECK(gyre_rotary(context, &k.args) == f.status);
        CHECK(!text(gyre_last_error()).empty());
        const bool tells_versions =
            text(gyre_last_error()).find("capability 8.0, or the driver, of CUDA 12.0") != std::string::npos;
        CHECK(tells_versions == (f.status == GYRE_UNSUPPORTED));
        CHECK(fake<long()>("fake_cuda_contexts_pushed")() == 0);
    }
    CHECK(gyre_rotary(context, &k.args) == GYRE_OK);
    auto *set_major = fake<void(int)>("fake_cuda_set_compute_major");
    set_major(7);
    check_refusal(k, nullptr, GYRE_UNSUPPORTED, nullptr);
    set_major(8);
    CHECK(gyre_rotary(context, &k.args) == GYRE_OK);
}

TEST_CASE("a call of more blocks than a device's grid has along y or z is refused, not launched") {
    const Context context("cuda");
    for (const int axis : {1, 2}) { // heads, batch entries
        const int64_t heads = axis == 1 ? 65536 : 1, batch = axis == 2 ? 65536 : 1;
        Tensor part(GYRE_F32, {batch, 1, heads, 8}), part_lse(GYRE_F32, {batch, heads, 1}),
            out(GYRE_F32, {batch, 1, heads, 8});
        OnDevice device;
        gyre_attention_merge_args args = gyre_attention_merge_defaults();
        args.parts = 1;
        args.part_out = device.view(part.view());
        args.part_lse = device.view(part_lse.view());
        args.out = device.view(out.view());
        const long launches = fake<long()>("fake_cuda_launches")();
        CHECK(gyre_attention_merge(context, &args) == GYRE_UNSUPPORTED);
        CHECK(text(gyre_last_error()).find("takes 65536 blocks") != std::string::npos);
        CHECK(fake<long()>("fake_cuda_launches")() == launches);
    }
}

TEST_CASE("a device's primary context is retained once, and again after someone has destroyed it") {
    Call k;
    REQUIRE(gyre_rotary(nullptr, &k.args) == GYRE_OK);
    auto *retained = fake<long()>("fake_cuda_primaries_retained");
    const long before = retained();
    for (int i = 0; i < 3; i++) CHECK(gyre_rotary(nullptr, &k.args) == GYRE_OK);
    CHECK(retained() == before);
    fail_next("cuCtxPushCurrent_v2", 709); // CUDA_ERROR_CONTEXT_IS_DESTROYED
    for (int i = 0; i < 3; i++) CHECK(gyre_rotary(nullptr, &k.args) == GYRE_OK);
    CHECK(retained() == before + 1);
}

TEST_CASE("on a device, in place gives the bits of out of place, for queries and keys in one launch each") {
    for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16})
        for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED}) {
            RotaryCase c(RotaryShape().batches(2).length(19).head_count(3).dim(40).of(type));
            c.args.rope.pairing = pairing;
            c.args.rope.rotary_dim = 24;
            c.args.rope.rotary_offset = 6;
            const Context context("cuda");
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            Tensor q = c.x, k = c.x;
            OnDevice device;
            device.add(q);
            device.add(k);
            gyre_rotary_qk_args args = gyre_rotary_qk_defaults();
            args.rope = c.args.rope;
            args.q = args.q_out = device.view(q.view());
            args.k = args.k_out = device.view(k.view());
            const long before = launches();
            REQUIRE_MESSAGE(gyre_rotary_qk(context, &args) == GYRE_OK, text(gyre_last_error()));
            CHECK(launches() == before + 2);
            device.fetch();
            CHECK(q.bits() == c.out.bits());
            CHECK(k.bits() == c.out.bits());
            CHECK((q.surroundings_intact() && k.surroundings_intact()));
        }
}

TEST_CASE("empty tensors on a CUDA device need no launch") {
    Call k;
    k.args.x.shape[1] = k.args.out.shape[1] = 0;
    const long before = launches();
    CHECK(gyre_rotary(nullptr, &k.args) == GYRE_OK);
    CHECK(launches() == before);
}
