/// gyre_attention() on CUDA devices at head sizes that no kernel is made for, and with values of another head size: rows are written into
/// the workspace with zeros behind them, and results copied from there.
#include "support/attention_case.h"
#include "support/each_kernel.h"
#include "support/key_pages.h"

using namespace gyre::test;

namespace {

struct HeadSizes {
    int64_t of_keys, of_values;
};

} // namespace

TEST_CASE("attention on devices, padded heads: sizes of keys and of values, many rows and few, in every type") {
    const HeadSizes all[] = {{1, 1}, {40, 40}, {72, 72}, {64, 40}, {33, 64}, {192, 128}, {100, 256}, {250, 7}};
    for (const auto &[of_keys, of_values] : all)
        for (const gyre_dtype type : {GYRE_BF16, GYRE_F16, GYRE_F32})
            for (const int64_t rows : {3, 70}) {
                if (type == GYRE_F32 && std::max(of_keys, of_values) > 128) continue;
                AttentionCase c(
                    AttentionShape().batches(2).lengths(rows, 140).head_counts(4, 2).dims(of_keys, of_values).of(type));
                c.args.causal = rows > 3;
                c.check_on_devices();
            }
}

TEST_CASE("attention on devices, padded heads: with a cap, ALiBi, sinks and a mask, in any layout") {
    for (const auto &[layout, gap] : {std::pair(GYRE_BSHD, 0), {GYRE_BHSD, 8}, {GYRE_BHSD, 3}})
        for (const int64_t rows : {3, 70}) {
            AttentionCase c(
                AttentionShape().batches(2).lengths(rows, 140).head_counts(2, 1).dims(72, 40).of(GYRE_BF16).in(
                    layout, Placement::with_gaps(gap)));
            c.args.softcap = 20;
            c.args.alibi = c.hold(GYRE_F32, {0.5, 0.0625});
            c.args.sinks = c.hold(GYRE_F32, {0.5, 2});
            Tensor mask(GYRE_BOOL, {rows, 140});
            mask.fill_uniform_integers(5, 0, 1);
            c.args.mask = c.hold(std::move(mask));
            c.check_on_devices();
            c.args.lse = nullptr;
            c.check_on_devices();
        }
}

TEST_CASE(
    "attention on devices, padded heads: RoPE and RoPER of every feature and of some, rotated in the call or before") {
    gyre_rope rope = gyre_rope_defaults(), part = rope;
    part.pairing = GYRE_INTERLEAVED;
    part.rotary_dim = 18;
    for (const int64_t rows : {3, 70})
        for (const int rotated : {0, 1}) {
            AttentionCase c(AttentionShape()
                                .batches(2)
                                .lengths(rows, 90)
                                .head_counts(2, 1)
                                .dims(80 - 8 * rotated, 40)
                                .of(GYRE_F16));
            c.args.causal = 1;
            c.args.rope = &rope;
            c.args.value_rope = &part;
            c.args.keys_rotated = c.args.values_rotated = rotated;
            c.check_on_devices();
            c.args.seqused_k = c.hold(GYRE_I32, {90, 77}); // queries then are rotated by the kernel
            c.check_on_devices();
        }
}

TEST_CASE("attention on devices, padded heads: packed sequences, and keys in pages") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const int rotated : {0, 1}) {
        AttentionCase packed(
            AttentionShape().lengths(61, 110).head_counts(2, 1).dims(72, 40).of(GYRE_BF16).in(GYRE_THD));
        packed.args.cu_seqlens_q = packed.hold(GYRE_I32, {0, 5, 5, 61});
        packed.args.cu_seqlens_k = packed.hold(GYRE_I32, {0, 40, 41, 110});
        packed.args.causal = 1;
        if (rotated) packed.args.rope = packed.args.value_rope = &rope;
        packed.check_on_devices();
        const KeyPages of_packed(packed, 16, {40, 1, 69}, {0, 40, 41});
        gyre_attention_args in_pages = of_packed.args();
        packed.check_on_devices(&in_pages);
        for (const int64_t rows : {3, 40}) {
            AttentionCase c(AttentionShape().batches(2).lengths(rows, 90).head_counts(4, 2).dims(72).of(GYRE_F16));
            c.args.seqused_k = c.hold(GYRE_I32, {90, 77});
            c.args.causal = 1;
            if (rotated) c.args.rope = &rope;
            const KeyPages pages(c, 16, {90, 77});
            in_pages = pages.args();
            c.check_on_devices(&in_pages);
        }
    }
}

TEST_CASE("attention on devices, padded heads: sizes of kernels of a project's own are taken first, and such dropout") {
    AttentionCase c(AttentionShape().lengths(90, 130).head_counts(4, 2).dims(80, 72).of(GYRE_BF16));
    c.args.dropout = 0.25f;
    c.args.dropout_seed = 7;
    c.check_on_devices();
    each_device([&](gyre_context *context) {
        REQUIRE(c.run(context) == GYRE_OK);
        CHECK(text(gyre_selected_kernel(context)).find("_d80") != std::string::npos);
    });
}
