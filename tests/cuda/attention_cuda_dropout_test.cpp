/// gyre_attention() on CUDA devices with dropout, whose kernels a library made by gyre_add_kernels() has: which probabilities are dropped,
/// and the results, against the oracle.
#include "device_attention.h"
#include "support/dropout.h"
#include "support/each_kernel.h"
#include "support/key_pages.h"
#include "support/philox.h"

#include <string>

using namespace gyre::test;

namespace {

constexpr int64_t dim = 80; // the library's

AttentionShape shape_of(int64_t lq, int64_t lk) {
    return AttentionShape().batches(2).lengths(lq, lk).head_counts(4, 2).dims(dim).of(GYRE_BF16);
}

} // namespace

TEST_CASE("dropout on devices: every key of every row is dropped or kept as documented") {
    AttentionCase c(shape_of(301, dim));
    c.q.fill(0);
    c.k.fill(0);
    c.v.fill(0); // the identity, so that results are probabilities
    for (int64_t b = 0; b < 2; b++)
        for (int64_t h = 0; h < 2; h++)
            for (int64_t j = 0; j < dim; j++) c.v.set({b, j, h, j}, 1);
    for (const uint64_t seed : {uint64_t{0}, ~uint64_t{0}})
        for (const uint32_t offset : {0u, 0xffffffffu}) {
            set_dropout(c.args, 0.3f, seed, offset);
            each_device([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                CHECK(text(gyre_selected_kernel(context)).find("attention_dropout_as_stored_bf16_d80") == 0);
                const Dense out = c.output();
                long wrong = 0;
                for (int64_t b = 0; b < 2; b++)
                    for (int64_t i = 0; i < 301; i++)
                        for (int64_t h = 0; h < 4; h++)
                            for (int64_t j = 0; j < dim; j++) {
                                const bool dropped = dropout_factor(c.args, 4, b, h, i, j) == 0;
                                wrong += dropped != (out.head(b, i, h)[j] == 0);
                            }
                CHECK(wrong == 0);
            });
        }
}

TEST_CASE("dropout on devices: shapes and options match the oracle") {
    const int64_t lengths[][2] = {{1, 1}, {1, 200}, {3, 5}, {40, 129}, {130, 70}};
    for (const auto &length : lengths)
        for (const int causal : {0, 1}) {
            AttentionCase c(shape_of(length[0], length[1]));
            set_dropout(c.args, 0.25f);
            c.args.causal = causal;
            c.check_on_devices();
        }
    for (int option = 0; option < 4; option++) {
        AttentionCase c(shape_of(70, 150));
        set_dropout(c.args, 0.4f);
        if (option == 0) {
            c.args.window_left = 20;
            c.args.window_right = 40;
        }
        if (option == 1) {
            c.args.softcap = 2;
            c.args.alibi = c.hold(GYRE_F32, {0.25, -0.125, 0, 1});
        }
        if (option == 2) {
            c.args.sinks = c.hold(GYRE_F32, {0.25, -3, 0, 1});
            c.args.seqused_k = c.hold(GYRE_I32, {0, 97});
        }
        if (option == 3) {
            Tensor bias(GYRE_BF16, {4, 1, 150}), mask(GYRE_BOOL, {70, 150});
            bias.fill_normal(5);
            mask.fill_uniform_integers(5, 0, 1);
            c.args.bias = c.hold(std::move(bias));
            c.args.mask = c.hold(std::move(mask));
        }
        c.check_on_devices();
        if (option == 1) {
            const KeyPages pages(c, 2, {150, 150});
            const gyre_attention_args in_pages = pages.args();
            c.check_on_devices(&in_pages);
        }
    }
    AttentionCase packed(AttentionShape().lengths(150, 260).head_counts(4, 2).dims(dim).in(GYRE_THD).of(GYRE_BF16));
    packed.args.cu_seqlens_q = packed.hold(GYRE_I32, {0, 0, 20, 120, 150});
    packed.args.cu_seqlens_k = packed.hold(GYRE_I32, {0, 30, 90, 230, 260});
    packed.args.causal = 1;
    set_dropout(packed.args, 0.5f);
    packed.check_on_devices();
}

TEST_CASE("dropout on devices: a head size without such a kernel is refused by name") {
    DeviceAttention a(AttentionShape().lengths(5, 7).dims(200).of(GYRE_BF16));
    set_dropout(a.args, 0.5f);
    a.check_refusal(GYRE_UNSUPPORTED, "q");
    CHECK(text(gyre_last_error()).find("dropout") != std::string::npos);
    a.args.dropout = 1;
    a.check_refusal(GYRE_BAD_ARGUMENT, "dropout");
}
