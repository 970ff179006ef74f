/// gyre_attention() of f32 queries on keys and values of 16 bits: the bits of a call on the same numbers in f32.
#include "support/attention_refusals.h"
#include "support/backward_case.h"
#include "support/each_kernel.h"
#include "support/guarded_memory.h"
#include "support/paged_case.h"

using namespace gyre::test;

namespace {

/// A case on 16 bits, which is checked against the oracle, and the numbers that it reads once more in f32.
struct NarrowCase {
    AttentionCase c;
    Tensor k, v;

    explicit NarrowCase(const AttentionShape &shape)
        : c(shape), k(GYRE_F32, c.k.shape(), shape.placement), v(GYRE_F32, c.v.shape(), shape.placement) {
        k.set_values(c.k.values());
        v.set_values(c.v.values());
    }

    void check() {
        c.check();
        const gyre_attention_args narrow = c.args;
        each_target([&](gyre_context *context) {
            c.args = narrow;
            run_in_exact_workspace(context);
            const std::vector<uint64_t> out = c.out.bits(), lse = c.lse.bits();
            c.args.k = k.view();
            c.args.v = v.view();
            c.args.workspace = nullptr;
            c.args.workspace_size = 0;
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            CHECK(c.out.bits() == out);
            CHECK(c.lse.bits() == lse);
        });
        c.args = narrow;
    }

private:
    /// No byte more than the library says: what is written after these is a fault.
    void run_in_exact_workspace(gyre_context *context) {
        size_t bytes = 0;
        REQUIRE(gyre_attention_workspace_size(context, &c.args, &bytes) == GYRE_OK);
        const GuardedMemory memory(bytes);
        c.args.workspace = memory.data();
        c.args.workspace_size = bytes;
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
    }
};

} // namespace

TEST_CASE("narrow keys: every type, layout and kind of head size, one token, a few, and prompts") {
    for (const gyre_dtype type : {GYRE_F16, GYRE_BF16})
        for (const gyre_layout layout : {GYRE_BSHD, GYRE_BHSD})
            for (const int64_t head_dim : {8, 64, 72, 128})
                for (const int64_t queries : {1, 5, 40}) {
                    NarrowCase n(AttentionShape()
                                     .batches(2)
                                     .lengths(queries, 131)
                                     .head_counts(4, 2)
                                     .dims(head_dim, head_dim == 72 ? 40 : head_dim)
                                     .keys_of(type)
                                     .in(layout, Placement::with_gaps(layout == GYRE_BHSD ? 3 : 0)));
                    n.c.args.causal = 1;
                    n.check();
                }
}

TEST_CASE("narrow keys: rotated in the call, windows, softcap, bias, mask, ALiBi, sinks and dropout") {
    for (const int64_t queries : {3, 33}) {
        NarrowCase n(AttentionShape().batches(2).lengths(queries, 150).head_counts(4, 2).dims(64).keys_of(GYRE_BF16));
        gyre_rope rope = gyre_rope_defaults();
        n.c.args.rope = n.c.args.value_rope = &rope;
        n.c.args.causal = 1;
        n.c.args.window_left = 70;
        n.check();
        Tensor bias(GYRE_F32, {4, 1, 150}), mask(GYRE_BOOL, {2, 1, queries, 150});
        bias.fill_normal(3);
        mask.fill_uniform_integers(4, 0, 1);
        n.c.args.bias = n.c.hold(std::move(bias));
        n.c.args.mask = n.c.hold(std::move(mask));
        n.c.args.softcap = 4;
        n.c.args.alibi = n.c.hold(GYRE_F32, {0.1, 0.2, 0.3, 0.4});
        n.c.args.sinks = n.c.hold(GYRE_F32, {1, 0, -1, 2});
        n.check();
        n.c.args.dropout = 0.25f;
        n.check();
    }
}

TEST_CASE("narrow keys: a mask that leaves ranges, and packed sequences of different lengths") {
    NarrowCase padded(AttentionShape().batches(2).lengths(40, 40).head_counts(2, 1).dims(64).keys_of(GYRE_F16));
    Tensor mask(GYRE_BOOL, {2, 1, 1, 40});
    for (int64_t j = 0; j < 40; j++) {
        mask.set({0, 0, 0, j}, j >= 7);
        mask.set({1, 0, 0, j}, j < 31);
    }
    padded.c.args.mask = padded.c.hold(std::move(mask));
    padded.c.args.causal = 1;
    padded.check();

    NarrowCase packed(AttentionShape().lengths(21, 700).head_counts(4, 2).dims(64).keys_of(GYRE_F16).in(GYRE_THD));
    packed.c.args.cu_seqlens_q = packed.c.hold(GYRE_I32, {0, 1, 20, 21});
    packed.c.args.cu_seqlens_k = packed.c.hold(GYRE_I32, {0, 300, 319, 700});
    packed.check();
}

TEST_CASE("narrow keys: keys in parts, which threads share") {
    for (const int64_t queries : {1, 4}) {
        NarrowCase n(AttentionShape().lengths(queries, 2500).head_counts(8, 2).dims(64).keys_of(GYRE_BF16));
        n.c.args.causal = 1;
        n.check();
    }
}

TEST_CASE("narrow keys: stored backwards") {
    AttentionCase c(AttentionShape().lengths(3, 200).dims(64).keys_of(GYRE_F16));
    Tensor k(GYRE_F16, {1, 200, 1, 64}, Placement::with_strides({200 * 64, -64, 64, 1}));
    k.fill_normal(9);
    c.args.k = k.view();
    c.check();
}

TEST_CASE("narrow keys: in pages") {
    for (const int64_t page_size : {1, 16, 256})
        for (const int64_t queries : {2, 30}) {
            PagedCase c(AttentionShape().batches(3).lengths(queries, 300).head_counts(4, 2).dims(64).keys_of(GYRE_BF16),
                        page_size, {300, 131, 0});
            c.plain.args.causal = 1;
            c.check();
        }
}

TEST_CASE("narrow keys: in pages, by a mask whose keys begin within one") {
    constexpr int64_t room = 512;
    for (const int64_t page_size : {16, 256}) {
        PagedCase c(AttentionShape().batches(3).lengths(30, room).head_counts(4, 2).dims(64).keys_of(GYRE_BF16),
                    page_size, {300, 131, 512});
        Tensor mask(GYRE_BOOL, {1, room});
        for (int64_t j = 0; j < room; j++) mask.set({0, j}, j >= 37);
        const gyre_tensor view = mask.view();
        c.plain.args.mask = &view;
        c.check();
    }
}

TEST_CASE("narrow keys: what queries of 16 bits, gradients and linear attention do not take is refused by name") {
    AttentionCase f16(AttentionShape().lengths(5, 6).of(GYRE_F16).keys_of(GYRE_BF16));
    check_refused("queries of f16", f16.run(nullptr), GYRE_BAD_TYPE, "k");
    AttentionCase wide(AttentionShape().lengths(5, 6).of(GYRE_BF16).keys_of(GYRE_F32));
    check_refused("wider keys", wide.run(nullptr), GYRE_BAD_TYPE, "k");
    AttentionCase values(AttentionShape().lengths(5, 6).keys_of(GYRE_BF16));
    values.args.v.dtype = GYRE_F16;
    check_refused("values of another type", values.run(nullptr), GYRE_BAD_TYPE, "v");
    AttentionCase blocks(AttentionShape().lengths(5, 32).keys_of(GYRE_BF16));
    blocks.args.value_order = GYRE_VALUES_IN_BLOCKS;
    check_refused("values in blocks", blocks.run(nullptr), GYRE_BAD_TYPE, "q");

    BackwardCase backward(AttentionShape().lengths(5, 6));
    Tensor narrow(GYRE_F16, {1, 6, 1, 64});
    backward.forward.args.k = backward.forward.args.v = narrow.view();
    check_refused("gradients", gyre_attention_backward(nullptr, &backward.args), GYRE_BAD_TYPE, "forward.k");

    gyre_linear_attention_args linear = gyre_linear_attention_defaults();
    AttentionCase c(AttentionShape().lengths(6, 6).keys_of(GYRE_F16));
    linear.q = c.args.q;
    linear.k = c.args.k;
    linear.v = c.args.v;
    linear.out = c.args.out;
    check_refused("linear attention", gyre_linear_attention(nullptr, &linear), GYRE_BAD_TYPE, "k");
}
