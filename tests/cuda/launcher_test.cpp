/// How calls reach a CUDA device, and what is said when they cannot: with the driver that tests/cuda/fake_driver.cpp is.
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

namespace {

/// Attention of tensors on the device.
struct Attention : DeviceAttention {
    explicit Attention(gyre_dtype type = GYRE_BF16, int64_t dim = 64)
        : DeviceAttention(AttentionShape().lengths(17, 7).head_counts(2, 1).dims(dim).of(type)) {}
};

} // namespace

TEST_CASE("attention on a CUDA device is one launch, by the kernel for keys as they are if it may, without workspace") {
    const Context context("cuda");
    Attention a;
    const long before = launches();
    CHECK(gyre_attention(context, &a.args) == GYRE_OK);
    CHECK(launches() == before + 1);
    CHECK(text(gyre_selected_kernel(context)) == "attention_plain_as_stored_bf16_d64__cuda");
    const gyre_rope rope = gyre_rope_defaults();
    a.args.rope = &rope;
    CHECK(gyre_attention(context, &a.args) == GYRE_OK);
    CHECK(text(gyre_selected_kernel(context)) == "attention_plain_bf16_d64__cuda");
    CHECK(launches() == before + 3); // the keys' angles, too
    a.args.keys_rotated = 1;
    CHECK(gyre_attention(context, &a.args) == GYRE_OK);
    CHECK(text(gyre_selected_kernel(context)) == "attention_plain_as_stored_bf16_d64__cuda");
    gyre_attention_args unaligned = a.args; // asynchronous copies take 16 bytes
    unaligned.rope = nullptr;
    unaligned.keys_rotated = 0;
    unaligned.k.shape[1] = unaligned.v.shape[1] = 4;
    unaligned.k.data = static_cast<char *>(a.args.k.data) + 8;
    CHECK_MESSAGE(gyre_attention(context, &unaligned) == GYRE_OK, text(gyre_last_error()));
    CHECK(text(gyre_selected_kernel(context)) == "attention_plain_bf16_d64__cuda");
    size_t bytes = 1 << 30;
    CHECK(gyre_attention_workspace_size(context, &a.args, &bytes) == GYRE_OK);
    CHECK(bytes < 4096);
    a.args.q.shape[1] = a.args.out.shape[1] = 0;
    a.args.lse = nullptr;
    const long done = launches();
    CHECK(gyre_attention(context, &a.args) == GYRE_OK);
    CHECK(launches() == done);
}

TEST_CASE("attention's workspace on a CUDA device is the stream's, given back, or the caller's") {
    const Context context("cuda");
    Attention a;
    const gyre_rope rope = gyre_rope_defaults();
    a.args.rope = a.args.value_rope = &rope;
    const auto allocations = fake<long()>("fake_cuda_allocations");
    const long before = allocations();
    REQUIRE_MESSAGE(gyre_attention(context, &a.args) == GYRE_OK, text(gyre_last_error()));
    CHECK(allocations() == before);
    struct Failure {
        int result;
        gyre_status status;
        const char *blamed;
    };
    for (const Failure &f : {Failure{2, GYRE_OUT_OF_MEMORY, nullptr}, Failure{801, GYRE_UNSUPPORTED, "workspace"},
                             Failure{700, GYRE_INTERNAL, nullptr}}) {
        fail_next("cuMemAllocAsync", f.result);
        a.check_refusal(f.status, f.blamed, context);
    }
    fail_next("cuLaunchKernel", 2);
    CHECK(gyre_attention(context, &a.args) == GYRE_OUT_OF_MEMORY);
    CHECK(allocations() == before);

    size_t bytes = 0;
    REQUIRE(gyre_attention_workspace_size(context, &a.args, &bytes) == GYRE_OK);
    CHECK(bytes >= 7 * 64 * sizeof(float)); // of seven keys: cosines and sines
    Tensor memory(GYRE_BOOL, {(int64_t)bytes});
    const gyre_tensor there = a.device.view(memory.view());
    a.args.workspace = there.data;
    a.args.workspace_size = bytes;
    fail_next("cuMemAllocAsync", 2); // which is not asked for
    CHECK(gyre_attention(context, &a.args) == GYRE_OK);
    fail_next("", 0);
    a.args.workspace_size = 7 * 64 * sizeof(float) - 1;
    a.check_refusal(GYRE_WORKSPACE_TOO_SMALL, "workspace", context);
    a.args.workspace = memory.memory().data();
    a.args.workspace_size = bytes;
    a.check_refusal(GYRE_BAD_ARGUMENT, "workspace", context);
    a.args.workspace = nullptr;
    a.check_refusal(GYRE_WORKSPACE_TOO_SMALL, "workspace", context);
    a.args.workspace = there.data;
    a.args.workspace_size = bytes + 4096;
    a.check_refusal(GYRE_BAD_ARGUMENT, "workspace", context);
}

TEST_CASE("attention on a CUDA device refuses by name what no kernel there takes, and what is wrong anywhere") {
    Attention a;
    a.args.v = a.c.args.v;
    a.check_refusal(GYRE_UNSUPPORTED, "v");
    Attention host_lse;
    host_lse.args.lse = host_lse.c.args.lse;
    host_lse.check_refusal(GYRE_UNSUPPORTED, "lse");
    Attention list;
    list.args.seqused_k = list.c.hold(GYRE_I32, {7});
    list.check_refusal(GYRE_UNSUPPORTED, "seqused_k");
    Attention none;
    gyre_tensor empty_list = none.device.view(*none.c.hold(GYRE_I32, {7}));
    empty_list.data = nullptr;
    none.args.seqused_k = &empty_list;
    none.check_refusal(GYRE_BAD_ARGUMENT, "seqused_k");
    const gyre_rope rope = gyre_rope_defaults();
    Attention capped;
    capped.args.softcap = 5;
    CHECK(gyre_attention(nullptr, &capped.args) == GYRE_OK);
    capped.args.rope = &rope; // of keys in the call
    capped.check_refusal(GYRE_UNSUPPORTED, "softcap");
    capped.args.rope = nullptr;
    capped.args.k.data = static_cast<char *>(capped.args.k.data) + 2,
    capped.args.k.shape[1] = capped.args.v.shape[1] = 4;
    capped.check_refusal(GYRE_UNSUPPORTED, "softcap"); // rows that are not aligned
    Attention masked;
    masked.args.mask = masked.c.hold(GYRE_BOOL, {1});
    masked.check_refusal(GYRE_UNSUPPORTED, "mask"); // on the CPU
    masked.args.mask = masked.device.view(masked.args.mask);
    CHECK(gyre_attention(nullptr, &masked.args) == GYRE_OK);
    masked.args.rope = &rope;
    masked.check_refusal(GYRE_UNSUPPORTED, "mask");
    Attention sunk;
    sunk.args.sinks = sunk.c.hold(GYRE_F32, {1, 2});
    sunk.check_refusal(GYRE_UNSUPPORTED, "sinks"); // on the CPU
    Attention biased;
    biased.args.bias = biased.c.hold(GYRE_F16, {1});
    biased.check_refusal(GYRE_UNSUPPORTED, "bias"); // on the CPU
    gyre_tensor bias = *biased.device.view(biased.args.bias);
    biased.args.bias = &bias;
    CHECK(gyre_attention(nullptr, &biased.args) == GYRE_OK);
    bias.shape[0] = 7;
    bias.strides[0] = 1; // of one element
    biased.check_refusal(GYRE_BAD_ARGUMENT, "bias");
    bias.shape[0] = 6;
    bias.strides[0] = 0;
    biased.check_refusal(GYRE_BAD_SHAPE, "bias");
    bias.shape[0] = 1;
    bias.data = nullptr;
    biased.check_refusal(GYRE_BAD_ARGUMENT, "bias");
    Attention rotated_pages;
    const gyre_tensor *table = rotated_pages.device.view(rotated_pages.c.hold(GYRE_I32, {0}, {1, 1}));
    const gyre_tensor *used = rotated_pages.device.view(rotated_pages.c.hold(GYRE_I32, {7}));
    rotated_pages.args.page_table = table;
    rotated_pages.args.seqused_k = used;
    rotated_pages.args.rope = &rope;
    rotated_pages.args.k.shape[1] = rotated_pages.args.v.shape[1] = 4;
    rotated_pages.check_refusal(GYRE_UNSUPPORTED, "page_table");
    Attention odd_pages;
    odd_pages.args.page_table = odd_pages.device.view(odd_pages.c.hold(GYRE_I32, {0}, {1, 1}));
    odd_pages.args.seqused_k = odd_pages.device.view(odd_pages.c.hold(GYRE_I32, {7}));
    odd_pages.check_refusal(GYRE_BAD_SHAPE, "k"); // seven slots
    odd_pages.args.k.shape[1] = odd_pages.args.v.shape[1] = 4;
    odd_pages.args.v.data = static_cast<char *>(odd_pages.args.v.data) + 2;
    odd_pages.check_refusal(GYRE_UNSUPPORTED, "page_table"); // rows that are not aligned
    Attention unbound;
    unbound.args.layout = GYRE_THD;
    unbound.check_refusal(GYRE_BAD_SHAPE, "q");
    Attention tiny;
    tiny.args.scale = 1e-30f;
    tiny.check_refusal(GYRE_UNSUPPORTED, "scale");
    Attention undefined;
    undefined.args.scale = NAN;
    undefined.check_refusal(GYRE_BAD_ARGUMENT, "scale");
    Attention overlapping;
    overlapping.args.out.data = overlapping.args.v.data;
    overlapping.check_refusal(GYRE_BAD_ARGUMENT, "out");
    Attention shorter;
    shorter.args.v.shape[1] = 6;
    shorter.check_refusal(GYRE_BAD_SHAPE, "v");
    Attention(GYRE_F32, 256).check_refusal(GYRE_UNSUPPORTED, "q"); // too many registers
    Attention(GYRE_BF16, 72).check_refusal(GYRE_UNSUPPORTED, "q");
    for (const gyre_target_info &info : all_targets()) {
        if (!info.linked || !info.runnable) continue;
        const Context context(info.name);
        Attention forced;
        if (info.device == GYRE_CPU)
            forced.check_refusal(GYRE_UNSUPPORTED, "q", context);
        else
            check_refused("q", gyre_attention(context, &forced.c.args), GYRE_UNSUPPORTED, "q");
    }
}

TEST_CASE("appending to a cache on a CUDA device: a launch for keys and for values, and refusals by name") {
    AppendCase c(AppendShape().adding({3}).to({2, 5}).of(GYRE_F32, GYRE_BF16));
    OnDevice device;
    for (Tensor *t : {&c.k, &c.v, &c.k_cache, &c.v_cache}) device.add(*t);
    gyre_cache_append_args args = c.args;
    for (gyre_tensor *t : {&args.k, &args.v, &args.k_cache, &args.v_cache}) *t = device.view(*t);
    args.cache_seqlens = device.view(args.cache_seqlens);
    const Context context("cuda");
    long before = launches();
    REQUIRE_MESSAGE(gyre_cache_append(context, &args) == GYRE_OK, text(gyre_last_error()));
    CHECK(launches() == before + 2);
    CHECK(text(gyre_selected_kernel(context)) == "rotary_append_f32_bf16_half__cuda");
    size_t bytes = 1 << 30;
    CHECK(gyre_cache_append_workspace_size(context, &args, &bytes) == GYRE_OK);
    CHECK(bytes < 4096);
    before = launches();
    const auto refused = [&](gyre_cache_append_args wrong, gyre_status status, const char *named) {
        check_refused(named, gyre_cache_append(context, &wrong), status, named);
        CHECK(launches() == before);
    };
    gyre_cache_append_args wrong = args;
    wrong.v_cache = c.args.v_cache;
    refused(wrong, GYRE_UNSUPPORTED, "v_cache");
    wrong = args;
    wrong.cache_seqlens = c.args.cache_seqlens;
    refused(wrong, GYRE_UNSUPPORTED, "cache_seqlens");
    wrong = args;
    wrong.value_order = GYRE_VALUES_IN_BLOCKS;
    refused(wrong, GYRE_UNSUPPORTED, "value_order");
    wrong = args;
    wrong.v_cache.data = wrong.k_cache.data;
    refused(wrong, GYRE_BAD_ARGUMENT, "v_cache");
    wrong = args;
    wrong.k_cache.shape[1] = 7;
    refused(wrong, GYRE_BAD_SHAPE, "v_cache");
    gyre_tensor nowhere = *args.cache_seqlens;
    nowhere.data = nullptr;
    wrong = args;
    wrong.cache_seqlens = &nowhere;
    refused(wrong, GYRE_BAD_ARGUMENT, "cache_seqlens");
    wrong = args;
    wrong.k.shape[1] = wrong.v.shape[1] = 0;
    CHECK(gyre_cache_append(context, &wrong) == GYRE_OK);
    CHECK(launches() == before);
}
