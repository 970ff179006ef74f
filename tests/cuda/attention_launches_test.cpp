/// What attention and appending launch on a CUDA device, the workspace of it, and what is refused by name.
#include "device_attention.h"
#include "support/append_case.h"
#include "support/each_kernel.h"
#include "support/rotary_case.h"

#include <cmath>

using namespace gyre::test;

namespace {

/// Attention of tensors on the device.
struct Attention : DeviceAttention {
    explicit Attention(gyre_dtype type = GYRE_BF16, int64_t dim = 64)
        : DeviceAttention(AttentionShape().lengths(17, 7).head_counts(2, 1).dims(dim).of(type)) {}
};

} // namespace

TEST_CASE("attention on a CUDA device is one launch, without workspace if keys and values are neither rotated nor "
          "unaligned") {
    const Context context("cuda");
    Attention a;
    const long before = launches();
    CHECK(gyre_attention(context, &a.args) == GYRE_OK);
    CHECK(launches() == before + 1);
    CHECK(text(gyre_selected_kernel(context)) == "attention_plain_as_stored_bf16_d64__cuda");
    const gyre_rope rope = gyre_rope_defaults();
    a.args.rope = &rope;
    CHECK(gyre_attention(context, &a.args) == GYRE_OK);
    CHECK(text(gyre_selected_kernel(context)) == "attention_plain_as_stored_bf16_d64__cuda");
    CHECK(launches() == before + 4); // keys and queries are rotated before
    a.args.keys_rotated = 1;
    CHECK(gyre_attention(context, &a.args) == GYRE_OK);
    CHECK(text(gyre_selected_kernel(context)) == "attention_plain_as_stored_bf16_d64__cuda");
    gyre_attention_args unaligned = a.args; // asynchronous copies take 16 bytes
    unaligned.rope = nullptr;
    unaligned.keys_rotated = 0;
    unaligned.k.shape[1] = unaligned.v.shape[1] = 4;
    unaligned.k.data = static_cast<char *>(a.args.k.data) + 8;
    CHECK_MESSAGE(gyre_attention(context, &unaligned) == GYRE_OK, text(gyre_last_error()));
    CHECK(text(gyre_selected_kernel(context)) == "attention_plain_as_stored_bf16_d64__cuda");
    CHECK(launches() == before + 8); // the keys are copied before
    size_t bytes = 1 << 30;
    gyre_attention_args plain = a.args;
    plain.rope = nullptr;
    plain.keys_rotated = 0;
    CHECK(gyre_attention_workspace_size(context, &plain, &bytes) == GYRE_OK);
    CHECK(bytes < 4096);
    gyre_attention_args unknown = a.args; // where data are, and so whether they are aligned
    unknown.q.data = unknown.k.data = unknown.v.data = unknown.out.data = nullptr;
    CHECK_MESSAGE(gyre_attention_workspace_size(context, &unknown, &bytes) == GYRE_OK, text(gyre_last_error()));
    CHECK(bytes >= 2 * (7 + 17) * 64 * sizeof(uint16_t)); // keys, values and queries
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
    CHECK(bytes >= 2 * 7 * 64 * sizeof(uint16_t)); // seven keys, and their values
    Tensor memory(GYRE_BOOL, {(int64_t)bytes});
    const gyre_tensor there = a.device.view(memory.view());
    a.args.workspace = there.data;
    a.args.workspace_size = bytes;
    fail_next("cuMemAllocAsync", 2); // which is not asked for
    CHECK(gyre_attention(context, &a.args) == GYRE_OK);
    fail_next("", 0);
    a.args.workspace_size = 2 * 7 * 64 * sizeof(uint16_t) - 1;
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
    Attention padded(GYRE_BF16, 72);
    CHECK(gyre_attention(nullptr, &padded.args) == GYRE_OK); // by a larger kernel
    Attention(GYRE_BF16, 257).check_refusal(GYRE_UNSUPPORTED, "q");
    Attention odd_size(GYRE_BF16, 257);
    odd_size.args.softcap = 5;
    odd_size.check_refusal(GYRE_UNSUPPORTED, "q");
    Attention masked;
    masked.args.mask = masked.c.hold(GYRE_BOOL, {1});
    masked.check_refusal(GYRE_UNSUPPORTED, "mask"); // on the CPU
    masked.args.mask = masked.device.view(masked.args.mask);
    CHECK(gyre_attention(nullptr, &masked.args) == GYRE_OK);
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
    long before = launches();
    CHECK_MESSAGE(gyre_attention(nullptr, &rotated_pages.args) == GYRE_OK, text(gyre_last_error()));
    CHECK(launches() == before + 3); // keys, values, and attention
    Attention odd_pages;
    odd_pages.args.page_table = odd_pages.device.view(odd_pages.c.hold(GYRE_I32, {0}, {1, 1}));
    odd_pages.args.seqused_k = odd_pages.device.view(odd_pages.c.hold(GYRE_I32, {7}));
    odd_pages.check_refusal(GYRE_BAD_SHAPE, "k"); // seven slots
    odd_pages.args.k.shape[1] = odd_pages.args.v.shape[1] = 4;
    odd_pages.args.v.data = static_cast<char *>(odd_pages.args.v.data) + 2;
    before = launches();
    CHECK(gyre_attention(nullptr, &odd_pages.args) == GYRE_OK); // rows that are not aligned are copied
    CHECK(launches() == before + 3);
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
