/// gyre_attention() on CUDA devices at head sizes whose kernels a library made by gyre_add_kernels() has.
#include "support/attention_case.h"
#include "support/each_kernel.h"
#include "support/key_pages.h"

using namespace gyre::test;

TEST_CASE("attention on devices, other head sizes: causal, windows, and with a cap and sinks") {
    for (const int64_t dim : {32, 48, 80, 112, 160, 192}) {
        AttentionCase c(AttentionShape().lengths(70, 140).head_counts(2, 1).dims(dim).of(GYRE_BF16));
        c.args.causal = 1;
        c.check_on_devices();
        c.args.window_left = 40;
        c.args.softcap = 20;
        c.args.sinks = c.hold(GYRE_F32, {0.5, 2});
        c.check_on_devices();
    }
}

TEST_CASE("attention on devices, head size 80: rotated in the call, in pages, and of few queries") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const int64_t rows : {3, 90}) {
        AttentionCase c(AttentionShape().lengths(rows, 130).head_counts(4, 2).dims(80).of(GYRE_BF16));
        c.args.causal = 1;
        c.check_on_devices();
        const KeyPages pages(c, 16, {130});
        const gyre_attention_args in_pages = pages.args();
        c.check_on_devices(&in_pages);
        c.args.rope = &rope;
        c.args.value_rope = &rope;
        c.check_on_devices();
    }
}
