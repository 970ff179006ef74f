/// gyre_attention() on CUDA devices: softcap, ALiBi and sinks, against the oracle.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/key_pages.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

TEST_CASE("attention on devices: caps of scores, small beside them and large, with every head size and type") {
    for (const gyre_dtype type : {GYRE_BF16, GYRE_F16})
        for (const int64_t dim : {64, 96, 128, 256})
            for (const float softcap : {0.5f, 30.0f, 1e6f}) {
                AttentionCase c(AttentionShape().lengths(20, 130).head_counts(2, 1).dims(dim).of(type));
                c.args.softcap = softcap;
                c.args.causal = dim == 96;
                c.check_on_devices();
            }
    AttentionCase steep(AttentionShape().lengths(5, 70).dims(64).of(GYRE_BF16));
    steep.args.softcap = 20;
    steep.args.scale = -9;
    steep.check_on_devices(); // weights are close to one another or 0
}

TEST_CASE("attention on devices: ALiBi in both alignments, of rows in several blocks, with key lengths and windows") {
    for (const gyre_alignment alignment : {GYRE_BOTTOM_RIGHT, GYRE_TOP_LEFT})
        for (const int causal : {0, 1}) {
            AttentionCase c(AttentionShape().batches(2).lengths(140, 140).head_counts(2, 1).dims(64).of(GYRE_BF16));
            c.args.alignment = alignment;
            c.args.causal = causal;
            c.args.alibi = c.hold(GYRE_F32, {0.5, 0.0625});
            c.check_on_devices();
            c.args.seqused_k = c.hold(GYRE_I32, {140, 41});
            c.args.window_left = 30;
            c.check_on_devices();
        }
}

TEST_CASE("attention on devices: sinks join the denominator and lse, of rows that see something") {
    for (const double sink : {-30.0, 0.0, 4.0, 60.0, -std::numeric_limits<double>::infinity()})
        for (const int causal : {0, 1}) {
            AttentionCase c(AttentionShape().lengths(90, 70).head_counts(2, 1).dims(64).of(GYRE_F16));
            c.args.causal = causal; // the first rows see nothing
            c.args.sinks = c.hold(GYRE_F32, {sink, 0.5});
            c.check_on_devices();
        }
}

TEST_CASE("attention on devices: all of them, with rotated queries and results, packed, and in pages") {
    const gyre_rope rope = gyre_rope_defaults();
    AttentionCase c(AttentionShape().lengths(61, 110).head_counts(2, 1).dims(64).of(GYRE_BF16).in(GYRE_THD));
    c.args.cu_seqlens_q = c.hold(GYRE_I32, {0, 5, 5, 61});
    c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, 40, 41, 110});
    c.args.causal = 1;
    c.args.softcap = 10;
    c.args.alibi = c.hold(GYRE_F32, {0.1, 0.02});
    c.args.sinks = c.hold(GYRE_F32, {0.5, 3});
    c.check_on_devices();
    c.args.rope = c.args.value_rope = &rope;
    c.args.keys_rotated = c.args.values_rotated = 1;
    c.check_on_devices();
    for (const int64_t page_size : {2, 32}) {
        const KeyPages pages(c, page_size, {40, 1, 69}, {0, 40, 41});
        const gyre_attention_args in_pages = pages.args();
        c.check_on_devices(&in_pages);
    }
}

TEST_CASE("attention on devices: all of them with keys and values that are rotated in the call, or in rows that are "
          "not aligned") {
    gyre_rope rope = gyre_rope_defaults(), part = rope;
    part.pairing = GYRE_INTERLEAVED;
    part.rotary_dim = 22;
    for (const int64_t queries : {70, 3}) // few: keys are cut into parts
        for (const int64_t gap : {0, 3}) {
            AttentionCase c(AttentionShape()
                                .batches(2)
                                .lengths(queries, 150)
                                .head_counts(4, 2)
                                .dims(64)
                                .of(GYRE_BF16)
                                .in(GYRE_BSHD, Placement::with_gaps(gap)));
            c.args.causal = 1;
            c.args.seqused_k = c.hold(GYRE_I32, {150, 33});
            c.check_on_devices();
            c.args.rope = &rope;
            c.check_on_devices();
            c.args.value_rope = &part;
            c.args.softcap = 10;
            c.args.alibi = c.hold(GYRE_F32, {0.1, 0.02, 0.5, 0});
            c.args.sinks = c.hold(GYRE_F32, {0.5, 3, -1, 0});
            c.check_on_devices();
            c.args.rope = nullptr;
            c.args.k_positions = c.hold(GYRE_I64, std::vector<double>(150, 77), {150});
            c.check_on_devices();
        }
}
