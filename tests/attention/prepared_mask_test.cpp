/// gyre_mask_prepare(): calls with what it wrote give the bits of those without, and others are refused.
#include "support/block_masks.h"
#include "support/each_kernel.h"
#include "support/guarded_memory.h"

#include <cstring>

using namespace gyre::test;

namespace {

/// The mask of a call, prepared, in exactly as many bytes as are asked for.
class Prepared {
public:
    explicit Prepared(const gyre_attention_args &args, gyre_context *context = nullptr)
        : bytes(size(args)), memory(bytes) {
        const gyre_status status = gyre_mask_prepare(context, &args, memory.data(), bytes);
        REQUIRE_MESSAGE(status == GYRE_OK, text(gyre_last_error()));
    }
    const void *data() const { return memory.data(); }
    void give(gyre_attention_args *args) const {
        args->prepared_mask = memory.data();
        args->prepared_mask_size = bytes;
    }

    static size_t size(const gyre_attention_args &args) {
        size_t bytes = 0;
        const gyre_status status = gyre_mask_prepare_size(&args, &bytes);
        REQUIRE_MESSAGE(status == GYRE_OK, text(gyre_last_error()));
        return bytes;
    }

private:
    size_t bytes;
    GuardedMemory memory;
};

void take_away(gyre_attention_args *args) {
    args->prepared_mask = nullptr;
    args->prepared_mask_size = 0;
}

void check_same_bits(AttentionCase *c) {
    for (const std::string &target : runnable_targets()) {
        CAPTURE(target);
        for (const int32_t threads : {1, 3}) {
            const Context context(target.c_str(), threads);
            take_away(&c->args);
            REQUIRE_MESSAGE(c->run(context) == GYRE_OK, text(gyre_last_error()));
            const std::vector<uint64_t> out = c->out.bits(), lse = c->lse.bits();
            const Prepared prepared(c->args, context);
            prepared.give(&c->args);
            REQUIRE_MESSAGE(c->run(context) == GYRE_OK, text(gyre_last_error()));
            CHECK(c->out.bits() == out);
            CHECK(c->lse.bits() == lse);
            take_away(&c->args);
        }
    }
}

/// A padded batch of three with a causal mask of its own for each.
struct PaddedBatch {
    static constexpr int64_t length = 70;
    AttentionCase c;
    Tensor mask{GYRE_BOOL, {3, 1, length, length}};
    gyre_tensor view;

    PaddedBatch() : c(AttentionShape().batches(3).lengths(length, length).head_counts(4, 2).dims(64)) {
        for (int64_t b = 0; b < 3; b++)
            for (int64_t i = 0; i < length; i++)
                for (int64_t j = 0; j < length; j++) mask.set({b, 0, i, j}, j <= i && j >= 9 * b);
        view = mask.view();
        c.args.mask = &view;
    }
};

void check_refused(const gyre_attention_args &args, gyre_status status, const char *argument) {
    CAPTURE(argument);
    CHECK(gyre_attention(nullptr, &args) == status);
    CHECK(text(gyre_last_error_argument()) == argument);
}

} // namespace

TEST_CASE("prepared masks give the bits that masks give") {
    for (const BlockMask &kind : block_masks()) {
        CAPTURE(kind.name);
        for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
            BlockMaskCase m(BlockMaskCase::shape(dtype, 64), kind, 4);
            check_same_bits(&m.c);
        }
        BlockMaskCase m(BlockMaskCase::shape(GYRE_F32, 64), kind, 1);
        m.c.args.causal = 1;
        m.c.args.window_left = 120;
        m.c.args.seqused_k = m.c.hold(GYRE_I32, {370});
        check_same_bits(&m.c);
        const Prepared prepared(m.c.args);
        prepared.give(&m.c.args);
        m.c.check();
    }
}

TEST_CASE("prepared masks of padded batches, of decoding, and of nothing") {
    PaddedBatch padded;
    check_same_bits(&padded.c);
    for (const int64_t queries : {1, 0}) {
        AttentionCase c(AttentionShape().batches(3).lengths(queries, 1100).head_counts(4, 2).dims(64));
        Tensor mask(GYRE_BOOL, {3, 1, 1, 1100});
        for (int64_t b = 0; b < 3; b++)
            for (int64_t j = 0; j < 1100; j++) mask.set({b, 0, 0, j}, b < 2 ? j >= 7 * b : j % 5 != 3);
        const gyre_tensor view = mask.view();
        c.args.mask = &view;
        check_same_bits(&c);
    }
}

TEST_CASE("prepared masks of one key, whose stride means nothing") {
    for (const int64_t stride : {INT64_C(0), INT64_C(1), INT64_C(1) << 40}) {
        CAPTURE(stride);
        AttentionCase c(AttentionShape().batches(2).lengths(3, 1).head_counts(4, 2).dims(64));
        Tensor mask(GYRE_BOOL, {2, 1, 3, 1});
        for (int64_t b = 0; b < 2; b++)
            for (int64_t i = 0; i < 3; i++) mask.set({b, 0, i, 0}, b == 0 || i == 1);
        gyre_tensor view = mask.view();
        view.strides[3] = stride;
        c.args.mask = &view;
        c.check();
        check_same_bits(&c);
    }
}

TEST_CASE("a prepared mask whose row tiles see ranges is not read") {
    constexpr int64_t length = 576, document = 192; // row tiles of 24, 32, 48 and 64 rows are within a document
    for (const bool causal : {false, true}) {
        AttentionCase c(AttentionShape().lengths(length, length).head_counts(2, 1).dims(64));
        GuardedMemory memory((size_t)(length * length));
        for (int64_t i = 0; i < length; i++)
            for (int64_t j = 0; j < length; j++)
                memory.data()[i * length + j] = i / document == j / document && (!causal || j <= i);
        const int64_t shape[] = {length, length};
        const gyre_tensor view = gyre_tensor_dense(memory.data(), GYRE_BOOL, 2, shape);
        c.args.mask = &view;
        c.check();
        const Prepared prepared(c.args);
        each_target([&](gyre_context *context) {
            take_away(&c.args);
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const std::vector<uint64_t> expected = c.out.bits();
            std::vector<char> kept(memory.data(), memory.data() + length * length);
            std::memset(memory.data(), 0, kept.size());
            prepared.give(&c.args);
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            CHECK(c.out.bits() == expected);
            std::memcpy(memory.data(), kept.data(), kept.size());
        });
    }
}

TEST_CASE("spans that somebody has written over lead nowhere outside of the tensors") {
    PaddedBatch padded;
    const GuardedMemory k((size_t)padded.c.k.count() * sizeof(float));
    padded.c.args.k.data = std::memset(k.data(), 0, (size_t)padded.c.k.count() * sizeof(float));
    std::vector<int32_t> memory(Prepared::size(padded.c.args) / 4 + 2);
    for (const int32_t garbage : {0, -1, INT32_MAX, INT32_MIN, 69, 71}) {
        REQUIRE(gyre_mask_prepare(nullptr, &padded.c.args, memory.data(), memory.size() * 4) == GYRE_OK);
        gyre_attention_args args = padded.c.args;
        args.prepared_mask = memory.data();
        args.prepared_mask_size = memory.size() * 4;
        for (size_t i = memory.size() / 4; i < memory.size(); i++)
            if (i % 2) memory[i] = garbage;
        CHECK(gyre_attention(nullptr, &args) == GYRE_OK);
    }
}

TEST_CASE("a mask that was prepared for other calls is refused") {
    PaddedBatch padded;
    padded.c.args.seqused_k = padded.c.hold(GYRE_I32, {70, 70, 60});
    const Prepared prepared(padded.c.args);
    gyre_attention_args args = padded.c.args;
    prepared.give(&args);
    args.softcap = 3; // not of the mask
    REQUIRE_MESSAGE(gyre_attention(nullptr, &args) == GYRE_OK, text(gyre_last_error()));
    const auto changed = [&](auto change, const char *of = "prepared_mask") {
        gyre_attention_args other = args;
        change(other);
        check_refused(other, GYRE_BAD_ARGUMENT, of);
    };
    changed([](gyre_attention_args &a) { a.causal = 1; });
    changed([](gyre_attention_args &a) { a.window_left = 5; });
    changed([](gyre_attention_args &a) { a.alignment = GYRE_TOP_LEFT; });
    changed([](gyre_attention_args &a) { a.seqused_k = nullptr; });
    changed([](gyre_attention_args &a) { a.mask = nullptr; });
    changed([](gyre_attention_args &a) { a.prepared_mask = nullptr; });
    changed([](gyre_attention_args &a) { a.prepared_mask_size--; }, "prepared_mask_size");
    const gyre_tensor *lengths = padded.c.hold(GYRE_I32, {70, 69, 60});
    changed([&](gyre_attention_args &a) { a.seqused_k = lengths; });
    gyre_tensor first = padded.view;
    first.shape[0] = 1;
    changed([&](gyre_attention_args &a) { a.mask = &first; });
    gyre_tensor one_row = padded.view;
    one_row.shape[2] = 1;
    changed([&](gyre_attention_args &a) { a.mask = &one_row; });
    changed([](gyre_attention_args &a) {
        a.q.shape[2] = a.out.shape[2] = 2; // heads
        a.lse = nullptr;
    });
    std::vector<uint64_t> others(1000);
    changed([&](gyre_attention_args &a) { a.prepared_mask = others.data(); });
    changed([&](gyre_attention_args &a) { a.prepared_mask = (const char *)a.prepared_mask + 4; });
}

TEST_CASE("what a prepared mask is not made of") {
    PaddedBatch padded;
    const gyre_attention_args args = padded.c.args;
    size_t bytes = 0;
    std::vector<uint64_t> memory(Prepared::size(args) / 8 + 1);
    const auto refused = [&](const gyre_attention_args &a, void *to, size_t size, gyre_status status,
                             const char *argument) {
        CAPTURE(argument);
        CHECK(gyre_mask_prepare(nullptr, &a, to, size) == status);
        CHECK(text(gyre_last_error_argument()) == argument);
    };
    const size_t all = memory.size() * 8;
    refused(args, nullptr, all, GYRE_BAD_ARGUMENT, "memory");
    refused(args, (char *)memory.data() + 4, all - 8, GYRE_BAD_ARGUMENT, "memory");
    refused(args, memory.data(), Prepared::size(args) - 1, GYRE_WORKSPACE_TOO_SMALL, "size");
    CHECK(gyre_mask_prepare(nullptr, nullptr, memory.data(), all) == GYRE_BAD_ARGUMENT);
    CHECK(gyre_mask_prepare_size(&args, nullptr) == GYRE_BAD_ARGUMENT);

    gyre_attention_args other = args;
    other.mask = nullptr;
    refused(other, memory.data(), all, GYRE_BAD_ARGUMENT, "mask");
    CHECK(gyre_mask_prepare_size(&other, &bytes) == GYRE_BAD_ARGUMENT);
    gyre_tensor without_data = padded.view, strided = padded.view;
    without_data.data = nullptr;
    other.mask = &without_data;
    refused(other, memory.data(), all, GYRE_BAD_ARGUMENT, "mask");
    strided.strides[3] = 2;
    strided.shape[2] = strided.shape[0] = 1;
    other = args;
    other.mask = &strided;
    refused(other, memory.data(), all, GYRE_UNSUPPORTED, "mask");

    other = args;
    other.q.data = other.k.data = other.v.data = other.out.data = nullptr;
    other.lse = nullptr;
    CHECK(gyre_mask_prepare(nullptr, &other, memory.data(), all) == GYRE_OK);
    std::vector<uint64_t> results(PaddedBatch::length * 3 * 4 * 64 / 2);
    other = args;
    other.out.data = results.data();
    other.lse = nullptr;
    REQUIRE(gyre_mask_prepare(nullptr, &other, results.data() + 100, (results.size() - 100) * 8) == GYRE_OK);
    other.prepared_mask = results.data() + 100;
    other.prepared_mask_size = (results.size() - 100) * 8;
    check_refused(other, GYRE_BAD_ARGUMENT, "prepared_mask");

    other = args;
    size_t workspace = 0;
    REQUIRE(gyre_attention_workspace_size(nullptr, &args, &workspace) == GYRE_OK);
    std::vector<uint64_t> scratch((workspace + all) / 8 + 2);
    REQUIRE(gyre_mask_prepare(nullptr, &args, scratch.data(), all) == GYRE_OK);
    other.prepared_mask = scratch.data();
    other.prepared_mask_size = all;
    other.workspace = scratch.data() + all / 16;
    other.workspace_size = scratch.size() * 8 - all / 16 * 8;
    check_refused(other, GYRE_BAD_ARGUMENT, "workspace");
    other.prepared_mask_size = SIZE_MAX; // more than is read, which alone counts
    check_refused(other, GYRE_BAD_ARGUMENT, "workspace");
    std::vector<uint64_t> apart(workspace / 8 + 16);
    other.workspace = apart.data();
    other.workspace_size = apart.size() * 8;
    for (const size_t size : {SIZE_MAX, (size_t)INT64_MAX, all}) {
        other.prepared_mask_size = size;
        CHECK(gyre_attention(nullptr, &other) == GYRE_OK);
    }
}
