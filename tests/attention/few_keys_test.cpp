/// Sequences whose rows see few keys: beside matrix tiles, which multiply f32 and f16 numbers as sums of three and two, they take vectors. In
/// bf16 they take tiles, too.
#include "support/attention_allowance.h"
#include "support/attention_case.h"
#include "support/batch_entry.h"
#include "support/compare.h"
#include "support/each_kernel.h"

#include <algorithm>
#include <cstdlib>

using namespace gyre::test;

namespace {

bool has_tiles() {
    const std::vector<std::string> targets = runnable_targets();
    return !std::getenv("GYRE_TEST_ONLY_TARGET") && !std::getenv("GYRE_TARGET") &&
           std::find(targets.begin(), targets.end(), "x86_64_amx") != targets.end();
}

bool ran_on_tiles(gyre_context *context) {
    return std::string(gyre_selected_kernel(context)).find("__x86_64_amx") != std::string::npos;
}

} // namespace

TEST_CASE("few keys a row are multiplied in vectors, many on tiles, unless the context names tiles" *
          doctest::skip(!has_tiles())) {
    struct Row {
        gyre_dtype dtype;
        int64_t queries, keys;
        bool causal;
        int64_t window; // on both sides; 0: none
        bool tiles;
    };
    for (const Row &row : {Row{GYRE_F32, 40, 383, false, 0, false}, Row{GYRE_F32, 40, 384, false, 0, true},
                           Row{GYRE_F32, 512, 512, true, 0, false}, Row{GYRE_F32, 800, 800, true, 0, true},
                           Row{GYRE_F32, 600, 600, false, 100, false}, Row{GYRE_F16, 40, 31, false, 0, false},
                           Row{GYRE_F16, 40, 32, false, 0, true}, Row{GYRE_BF16, 40, 8, false, 0, true}}) {
        AttentionCase c(AttentionShape().lengths(row.queries, row.keys).dims(64).of(row.dtype));
        c.args.causal = row.causal;
        if (row.window > 0) c.args.window_left = c.args.window_right = row.window;
        CAPTURE(row.queries);
        CAPTURE(row.keys);
        const Context best, tiles("x86_64_amx");
        REQUIRE_MESSAGE(c.run(best) == GYRE_OK, text(gyre_last_error()));
        CHECK(ran_on_tiles(best) == row.tiles);
        REQUIRE_MESSAGE(c.run(tiles) == GYRE_OK, text(gyre_last_error()));
        CHECK(ran_on_tiles(tiles));
    }
}

TEST_CASE("padded kernels of f32 are those of vectors, however many keys there are" * doctest::skip(!has_tiles())) {
    AttentionCase c(AttentionShape().lengths(40, 600).dims(72));
    const Context best;
    REQUIRE_MESSAGE(c.run(best) == GYRE_OK, text(gyre_last_error()));
    CHECK(!ran_on_tiles(best));
}

TEST_CASE("sequences with few and with many keys have the bits that they have alone, whatever the number of threads") {
    for (const int64_t group : {2, 3}) {
        AttentionCase c(AttentionShape().batches(2).lengths(150, 700).head_counts(2 * group, 2).dims(64));
        const std::vector<int32_t> keys = {200, 700};
        c.args.seqused_k = c.hold(GYRE_I32, {200, 700});
        c.args.lse = nullptr;
        std::vector<uint64_t> together;
        for (const int32_t threads : {1, 2, 5}) {
            const Context context(nullptr, threads);
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            if (threads == 1) together = c.out.bits();
            CHECK(c.out.bits() == together);
        }
        c.out.fill(0);
        for (int64_t b = 0; b < 2; b++) {
            gyre_attention_args one = c.args;
            for (gyre_tensor *tensor : {&one.q, &one.k, &one.v, &one.out}) *tensor = entry_of(*tensor, b);
            one.seqused_k = c.hold(GYRE_I32, {(double)keys[b]});
            const Context context;
            REQUIRE_MESSAGE(gyre_attention(context, &one) == GYRE_OK, text(gyre_last_error()));
            if (has_tiles()) CHECK(ran_on_tiles(context) == (b == 1));
        }
        CHECK(c.out.bits() == together);
    }
}

TEST_CASE("short sequences of bf16 numbers take the kernels of long ones" * doctest::skip(!has_tiles())) {
    for (const int64_t tokens : {17, 32, 33, 600})
        for (const int64_t head_dim : {64, 128}) {
            AttentionCase c(AttentionShape().lengths(tokens, tokens).dims(head_dim).head_counts(6, 2).of(GYRE_BF16));
            c.args.lse = nullptr;
            CAPTURE(tokens);
            CAPTURE(head_dim);
            const Context best;
            REQUIRE_MESSAGE(c.run(best) == GYRE_OK, text(gyre_last_error()));
            const std::string own_size = "plain_bf16_d" + std::to_string(head_dim) + "__x86_64_amx";
            CHECK(std::string(gyre_selected_kernel(best)).find(own_size) != std::string::npos);
        }
}

TEST_CASE("short sequences of bf16 numbers beside long ones, also where operands are formed, are those of the oracle") {
    for (const double longest : {300, 1100}) // operands are formed, if there are 2,048 rows a key head on average
        for (const bool rotated : {false, true}) {
            const double tokens = 16 + longest + 28;
            AttentionCase c(AttentionShape()
                                .lengths((int64_t)tokens, (int64_t)tokens)
                                .head_counts(6, 1)
                                .dims(64)
                                .of(GYRE_BF16)
                                .in(GYRE_THD));
            c.args.cu_seqlens_q = c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, 16, 16 + longest, tokens});
            c.args.sinks = c.hold(GYRE_F32, std::vector<double>(6, 0.5));
            c.args.causal = 1;
            c.args.lse = nullptr;
            const gyre_rope rope = gyre_rope_defaults();
            if (rotated) c.args.rope = c.args.value_rope = &rope;
            const OracleAttention expected = oracle_attention(c.args);
            CAPTURE(longest);
            CAPTURE(rotated);
            std::vector<uint64_t> bits;
            for (const int32_t threads : {1, 3}) {
                const Context context(nullptr, threads);
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const KernelRounding rounding =
                    rounding_of_call(c.args, gyre_selected_kernel(context), gyre_context_target(context));
                check_within("out", c.output().data, expected.out.data,
                             attention_allowance(expected, c.args, rounding).out);
                if (threads == 1) bits = c.out.bits();
                CHECK(c.out.bits() == bits);
            }
        }
}
