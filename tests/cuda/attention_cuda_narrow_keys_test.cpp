/// gyre_attention() on CUDA devices with queries in f32 and keys and values in 16 bits, which are converted into the workspace: as they lie,
/// and from pages.
#include "support/attention_case.h"
#include "support/each_kernel.h"
#include "support/key_pages.h"

using namespace gyre::test;

TEST_CASE("attention on devices, narrow keys: rotated or not, of many rows and few, padded") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const gyre_dtype type : {GYRE_BF16, GYRE_F16})
        for (const int64_t rows : {3, 70})
            for (const int64_t dim : {64, 40}) {
                AttentionCase c(AttentionShape()
                                    .batches(2)
                                    .lengths(rows, 140)
                                    .head_counts(4, 2)
                                    .dims(dim)
                                    .of(GYRE_F32)
                                    .keys_of(type)
                                    .in(GYRE_BSHD, Placement::with_gaps(3)));
                c.args.causal = 1;
                c.check_on_devices();
                c.args.rope = c.args.value_rope = &rope;
                c.check_on_devices();
            }
}

TEST_CASE("attention on devices, narrow keys: in pages, of many rows and few, rotated or not, padded, in any layout") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const auto &[type, layout, page_size, dim] :
         {std::tuple(GYRE_BF16, GYRE_BSHD, 16, 64), {GYRE_F16, GYRE_BHSD, 64, 40}, {GYRE_BF16, GYRE_BSHD, 1, 128}})
        for (const int64_t rows : {3, 70}) {
            AttentionCase c(AttentionShape()
                                .batches(3)
                                .lengths(rows, 140)
                                .head_counts(4, 2)
                                .dims(dim)
                                .of(GYRE_F32)
                                .keys_of(type)
                                .in(layout));
            c.args.seqused_k = c.hold(GYRE_I32, {140, 77, 0});
            c.args.causal = 1;
            for (const bool rotated : {false, true}) {
                if (rotated) c.args.rope = c.args.value_rope = &rope;
                const KeyPages pages(c, page_size, {140, 77, 0});
                gyre_attention_args in_pages = pages.args();
                c.check_on_devices(&in_pages);
            }
        }
}

TEST_CASE("attention on devices, narrow keys: packed queries of keys in pages, with a cap") {
    const gyre_rope rope = gyre_rope_defaults();
    AttentionCase c(AttentionShape().lengths(61, 110).head_counts(2, 1).of(GYRE_F32).keys_of(GYRE_F16).in(GYRE_THD));
    c.args.cu_seqlens_q = c.hold(GYRE_I32, {0, 5, 5, 61});
    c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, 40, 41, 110});
    c.args.causal = 1;
    for (const bool rotated : {false, true}) {
        if (rotated) c.args.rope = c.args.value_rope = &rope;
        for (const float cap : {0.0f, 20.0f}) {
            c.args.softcap = cap;
            const KeyPages pages(c, 16, {40, 1, 69}, {0, 40, 41});
            gyre_attention_args in_pages = pages.args();
            c.check_on_devices(&in_pages);
        }
    }
}
