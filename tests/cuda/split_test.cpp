/// How decoding on a CUDA device is cut into parts and merged, and gyre_attention_merge() there: launches, memory, refusals. The
/// driver is in tests/cuda/fake_driver/.
#include "device_attention.h"
#include "support/each_kernel.h"
#include "support/merge_case.h"

using namespace gyre::test;

namespace {

/// A device with so many multiprocessors, until the end of the scope.
struct Multiprocessors {
    explicit Multiprocessors(int count) { set(count); }
    ~Multiprocessors() { set(12); }
    static void set(int count) { fake<void(int)>("fake_cuda_set_multiprocessors")(count); }
};

long grid_z(long launch) { return fake<long(long)>("fake_cuda_grid_z")(launch); }

AttentionShape few_queries() { return AttentionShape().lengths(2, 1000).head_counts(4, 1).dims(64).of(GYRE_BF16); }

/// Two queries to 1000 keys.
struct Decode : DeviceAttention {
    Decode() : DeviceAttention(few_queries()) {}
};

struct Merge {
    MergeCase c{3, 1, 2, 4, 64};
    OnDevice device;
    gyre_attention_merge_args args = c.args;

    Merge() {
        for (Tensor *t : {&c.part_out, &c.part_lse, &c.out, &c.lse}) device.add(*t);
        for (gyre_tensor *t : {&args.part_out, &args.part_lse, &args.out}) *t = device.view(*t);
        args.lse = device.view(c.args.lse);
    }
    void check_refusal(gyre_status status, const char *named, gyre_context *context = nullptr) const {
        check_refused_before_launch([&] { return gyre_attention_merge(context, &args); }, status, named);
    }
};

} // namespace

TEST_CASE("decode on a CUDA device: as many parts as its multiprocessors have room for, merged by a second launch") {
    struct Parts {
        int multiprocessors;
        int64_t batches, keys;
        long parts;
    };
    // Four blocks of threads a multiprocessor, at least 64 keys a part, at most 256 parts. A sequence is one block without parts.
    for (const Parts &p : {Parts{1, 1, 1000, 4}, Parts{2, 1, 1000, 8}, Parts{132, 1, 1000, 16}, Parts{132, 1, 64, 1},
                           Parts{132, 1, 65, 2}, Parts{1, 3, 1000, 1}, Parts{2, 3, 1000, 2}, Parts{1, 5, 1000, 1},
                           Parts{132, 1, 16500, 256}}) {
        CAPTURE(p.multiprocessors);
        CAPTURE(p.batches);
        CAPTURE(p.keys);
        const Multiprocessors device(p.multiprocessors);
        AttentionCase c(few_queries().batches(p.batches).lengths(2, p.keys));
        c.args.causal = 1;
        const long before = launches();
        c.check_on_devices();
        REQUIRE(launches() == before + 2);
        CHECK(grid_z(before) == p.parts * p.batches);
        CHECK(grid_z(before + 1) == p.batches);
    }
}

TEST_CASE("decode on a CUDA device: a multiprocessor has as many parts at once as its shared memory has room for") {
    struct Room {
        int shared_bytes;
        int64_t dim;
        long parts;
    };
    const Multiprocessors device(1);
    auto *set_shared_bytes = fake<void(int)>("fake_cuda_set_shared_bytes");
    // An H100, an A100, and a device of 8.9; the last one has no room for a block, and gets one.
    for (const Room &r :
         {Room{233472, 64, 8}, Room{233472, 128, 4}, Room{167936, 128, 3}, Room{102400, 128, 2}, Room{1, 128, 1}}) {
        CAPTURE(r.shared_bytes);
        set_shared_bytes(r.shared_bytes);
        AttentionCase c(AttentionShape().lengths(2, 2000).head_counts(4, 1).dims(r.dim).of(GYRE_BF16));
        const long before = launches();
        c.check_on_devices();
        REQUIRE(launches() > before);
        CHECK(grid_z(before) == r.parts);
    }
    set_shared_bytes(0);
}

TEST_CASE(
    "decode on a CUDA device: a softcap has kernels of its own that write parts, and sinks join those of others") {
    const Context context("cuda");
    Decode d;
    CHECK(gyre_attention(context, &d.args) == GYRE_OK);
    CHECK(text(gyre_selected_kernel(context)) == "attention_split_as_stored_bf16_d64__cuda");
    const long before = launches();
    d.args.k.shape[1] = d.args.v.shape[1] = 40;
    d.args.softcap = 5;
    CHECK(gyre_attention(context, &d.args) == GYRE_OK);
    CHECK(text(gyre_selected_kernel(context)) == "attention_decode_bf16_d64__cuda");
    CHECK(launches() == before + 2);
    AttentionCase with_sinks(few_queries());
    with_sinks.args.sinks = with_sinks.hold(GYRE_F32, {1, 2, 3, 4});
    with_sinks.check_on_devices();
    CHECK(launches() == before + 4);
}

TEST_CASE("decode on a CUDA device: parts are in the caller's workspace, or in the stream's order, and given back") {
    const Multiprocessors device(2); // eight parts
    const Context context("cuda");
    Decode d;
    constexpr size_t of_parts = sizeof(float) * 8 * 2 * 4 * (64 + 1), slack = 4096;
    size_t bytes = 0;
    REQUIRE(gyre_attention_workspace_size(context, &d.args, &bytes) == GYRE_OK);
    CHECK(bytes >= of_parts);
    CHECK(bytes <= of_parts + slack);
    const auto allocations = fake<long()>("fake_cuda_allocations");
    const long before = allocations();
    REQUIRE_MESSAGE(gyre_attention(context, &d.args) == GYRE_OK, text(gyre_last_error()));
    d.device.fetch();
    const std::vector<uint64_t> bits = d.c.out.bits();
    CHECK(allocations() == before);
    for (const auto &[result, status] : {std::pair(2, GYRE_OUT_OF_MEMORY), std::pair(801, GYRE_UNSUPPORTED)}) {
        fail_next("cuMemAllocAsync", result);
        d.check_refusal(status, status == GYRE_UNSUPPORTED ? "workspace" : nullptr, context);
    }
    fail_next("cuLaunchKernel", 2);
    CHECK(gyre_attention(context, &d.args) == GYRE_OUT_OF_MEMORY);
    CHECK(allocations() == before);

    Tensor memory(GYRE_BOOL, {(int64_t)bytes});
    const gyre_tensor there = d.device.view(memory.view());
    d.args.workspace = there.data;
    d.args.workspace_size = bytes;
    fail_next("cuMemAllocAsync", 2); // which is not asked for
    d.c.out.poison();
    CHECK(gyre_attention(context, &d.args) == GYRE_OK);
    fail_next("", 0);
    d.device.fetch();
    CHECK(d.c.out.bits() == bits);
    d.args.workspace_size = of_parts - 1;
    d.check_refusal(GYRE_WORKSPACE_TOO_SMALL, "workspace", context);
    d.args.workspace = memory.memory().data();
    d.args.workspace_size = bytes;
    d.check_refusal(GYRE_BAD_ARGUMENT, "workspace", context); // the CPU's
}

TEST_CASE("decode on a CUDA device that is too old, or with tensors of the CPU, is refused") {
    Decode d;
    const auto set_major = fake<void(int)>("fake_cuda_set_compute_major");
    set_major(7);
    d.check_refusal(GYRE_UNSUPPORTED, nullptr);
    Merge().check_refusal(GYRE_UNSUPPORTED, nullptr);
    set_major(8);
    const gyre_tensor there = d.args.k;
    d.args.k = d.c.args.k;
    d.check_refusal(GYRE_UNSUPPORTED, "k");
    d.args.k = there;
    CHECK(gyre_attention(nullptr, &d.args) == GYRE_OK);
}

TEST_CASE("merge on a CUDA device: one launch without workspace, for all batch entries, and none for empty tensors") {
    const Context context("cuda");
    Merge m;
    size_t bytes = 1 << 30;
    CHECK(gyre_attention_merge_workspace_size(context, &m.args, &bytes) == GYRE_OK);
    CHECK(bytes < 4096);
    const long before = launches();
    CHECK(gyre_attention_merge(context, &m.args) == GYRE_OK);
    CHECK(text(gyre_selected_kernel(context)) == "merge_f32_f32__cuda");
    CHECK(launches() == before + 1);
    MergeCase(2, 3, 2, 1, 40).check_on_devices();
    CHECK(launches() == before + 2);
    CHECK(grid_z(before + 1) == 3);
    for (gyre_tensor *t : {&m.args.part_out, &m.args.out}) t->shape[1] = 0;
    m.args.part_lse.shape[2] = 0;
    m.args.lse = nullptr;
    CHECK(gyre_attention_merge(context, &m.args) == GYRE_OK);
    CHECK(launches() == before + 2);
}

TEST_CASE("merge on a CUDA device: few rows of many parts have a kernel of their own, with what all of them give") {
    const Multiprocessors device(3); // which has room for 12 rows
    struct Rows {
        int64_t parts, batches, tokens, heads, dim;
        bool few;
    };
    for (const Rows &r : {Rows{7, 1, 3, 4, 64, false}, Rows{8, 1, 3, 4, 64, true}, Rows{8, 1, 13, 1, 64, false},
                          Rows{9, 2, 2, 3, 40, true}, Rows{66, 1, 1, 8, 128, true}, Rows{99, 1, 1, 1, 256, true},
                          Rows{128, 3, 1, 4, 96, true}, Rows{128, 3, 1, 5, 96, false}, Rows{20, 1, 2, 2, 512, true},
                          Rows{129, 1, 1, 1, 64, true}, Rows{512, 1, 1, 1, 64, true}, Rows{513, 1, 1, 1, 64, false},
                          Rows{9, 1, 2, 2, 42, false}}) // whose rows are not aligned to 16 bytes
        for (const auto &[from, to] : merge_types) {
            const long before = launches();
            MergeCase c(r.parts, r.batches, r.tokens, r.heads, r.dim, from, to);
            c.check_on_devices();
            CHECK(launches() == before + 1);
            const Context context("cuda");
            REQUIRE(c.run(context) == GYRE_OK);
            const std::string kernel = text(gyre_selected_kernel(context));
            CHECK_MESSAGE((kernel.find("merge_few_rows_") == 0) == r.few, kernel);
        }
    // Parts that see no key, and rows of which none does.
    for (const bool all : {false, true}) {
        MergeCase c(21, 1, 2, 3, 64);
        std::vector<double> lses = c.part_lse.values(); // six a part
        for (size_t i = 0; i < lses.size(); i++)
            if (all ? i % 6 < 2 : i / 6 % 4 != 1) lses[i] = -MergeCase::infinity;
        c.part_lse.set_values(lses);
        c.check_on_devices();
    }
}

TEST_CASE("merge on a CUDA device refuses by name what is on the CPU, out of its memory, or wrong anywhere") {
    const auto refused = [](gyre_status status, const char *named, const auto &spoil) {
        Merge m;
        spoil(m);
        m.check_refusal(status, named);
    };
    refused(GYRE_UNSUPPORTED, "part_out", [](Merge &m) { m.args.part_out = m.c.args.part_out; });
    refused(GYRE_UNSUPPORTED, "part_lse", [](Merge &m) { m.args.part_lse = m.c.args.part_lse; });
    refused(GYRE_UNSUPPORTED, "out", [](Merge &m) { m.args.out = m.c.args.out; });
    refused(GYRE_UNSUPPORTED, "lse", [](Merge &m) { m.args.lse = m.c.args.lse; });
    refused(GYRE_BAD_ARGUMENT, "part_out", [](Merge &m) { m.args.part_out.data = m.c.args.part_out.data; });
    refused(GYRE_BAD_ARGUMENT, "part_out", [](Merge &m) { m.args.part_out_stride *= 100; }); // of the last part
    refused(GYRE_BAD_ARGUMENT, "part_lse", [](Merge &m) { m.args.part_lse_stride *= 100; });
    refused(GYRE_BAD_ARGUMENT, "out", [](Merge &m) { m.args.out.data = m.args.part_out.data; });
    refused(GYRE_BAD_ARGUMENT, "parts", [](Merge &m) { m.args.parts = -1; });
    refused(GYRE_BAD_SHAPE, "out", [](Merge &m) { m.args.out.shape[3] = 32; });
    refused(GYRE_BAD_TYPE, "out", [](Merge &m) { m.args.part_out.dtype = GYRE_F16; });
    for (const gyre_target_info &info : all_targets()) {
        if (!info.linked || !info.runnable) continue;
        const Context context(info.name);
        const Merge m;
        if (info.device == GYRE_CPU)
            m.check_refusal(GYRE_UNSUPPORTED, "part_out", context);
        else
            check_refused("part_out", gyre_attention_merge(context, &m.c.args), GYRE_UNSUPPORTED, "part_out");
    }
}
