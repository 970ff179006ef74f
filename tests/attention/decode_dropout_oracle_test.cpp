/// Dropout of few queries beside the oracle: split over keys, grouped heads together, with every option, and in gradients.
#include "support/attention_case.h"
#include "support/backward_case.h"
#include "support/dropout.h"

using namespace gyre::test;

namespace {

const gyre_dtype types[] = {GYRE_F32, GYRE_F16, GYRE_BF16};

const gyre_tensor *scattered_mask(AttentionCase &c) {
    Tensor mask(GYRE_BOOL, {c.shape.batch, 1, c.shape.seqlen_q, c.shape.seqlen_kv});
    mask.fill_uniform_integers(5, 0, 1);
    return c.hold(std::move(mask));
}

} // namespace

TEST_CASE("decode with dropout: matches the oracle for every length, group of heads, head size and type") {
    const int64_t lengths[][2] = {{1, 1}, {1, 5}, {2, 130}, {5, 700}, {12, 1024}, {16, 1300}, {1, 2125}};
    const int64_t counts[][2] = {{2, 2}, {8, 2}, {5, 1}};
    for (const auto &length : lengths)
        for (const auto &heads : counts)
            for (const int64_t head_dim : {24, 64, 128, 300})
                for (const gyre_dtype type : types) {
                    AttentionCase c(AttentionShape()
                                        .lengths(length[0], length[1])
                                        .head_counts(heads[0], heads[1])
                                        .dims(head_dim, head_dim == 24 ? 40 : 0)
                                        .of(type));
                    set_dropout(c.args, 0.25f);
                    c.args.causal = head_dim != 64;
                    c.check();
                }
}

TEST_CASE("decode with dropout: matches the oracle with every option") {
    for (const int64_t keys : {150, 1500})
        for (int option = 0; option < 7; option++) {
            AttentionCase c(AttentionShape().batches(2).lengths(3, keys).head_counts(4, 2).dims(64).in(
                GYRE_BHSD, Placement::with_gaps(3)));
            set_dropout(c.args, 0.4f);
            if (option == 0) c.args.window_left = 37;
            if (option == 1) c.args.softcap = 2;
            if (option == 2) c.args.alibi = c.hold(GYRE_F32, {0.25, -0.125, 0, 1});
            if (option == 3) c.args.seqused_k = c.hold(GYRE_I32, {0, 97});
            if (option == 4) {
                Tensor bias(GYRE_BF16, {4, 1, keys});
                bias.fill_normal(5);
                c.args.bias = c.hold(std::move(bias));
            }
            if (option == 5) c.args.mask = scattered_mask(c);
            if (option == 6) {
                c.args.mask = scattered_mask(c);
                c.args.window_left = 70;
                c.args.window_right = 9;
            }
            if (option % 2) c.args.sinks = c.hold(GYRE_F32, {0.25, -3, 0, 1});
            c.check();
        }
    AttentionCase packed(AttentionShape().lengths(20, 2860).head_counts(4, 2).dims(64).in(GYRE_THD));
    packed.args.cu_seqlens_q = packed.hold(GYRE_I32, {0, 0, 1, 17, 20});
    packed.args.cu_seqlens_k = packed.hold(GYRE_I32, {0, 30, 1490, 1530, 2860});
    packed.args.causal = 1;
    set_dropout(packed.args, 0.5f);
    packed.check();
}

TEST_CASE("decode with dropout: gradients match the oracle, of few queries and keys in several parts") {
    for (const gyre_dtype type : {GYRE_F32, GYRE_BF16}) {
        BackwardCase c(AttentionShape().lengths(3, 1100).head_counts(4, 2).dims(40).of(type));
        set_dropout(c.forward.args, 0.3f);
        c.forward.args.causal = 1;
        c.check();
    }
}
