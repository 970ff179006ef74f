/// Dropout of few queries: split over keys, grouped heads together. What is dropped is what attention.h documents; decode_dropout_oracle_test.cpp
/// has the results.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/dropout.h"
#include "support/each_kernel.h"
#include "support/masked_garbage.h"
#include "support/paged_case.h"
#include "support/philox.h"

using namespace gyre::test;

namespace {

const gyre_dtype types[] = {GYRE_F32, GYRE_F16, GYRE_BF16};

bool ran(gyre_context *context, const std::string &family) {
    return text(gyre_selected_kernel(context)).rfind("attention_" + family + "_", 0) == 0;
}

/// All scores are alike, and value j of `shown` neighbouring keys is 1 in feature j: features are 0 where these keys are dropped.
void show_keys(AttentionCase &c, int64_t first, int64_t shown) {
    c.q.fill(0);
    c.k.fill(0);
    c.v.fill(0);
    for (int64_t b = 0; b < c.shape.batch; b++)
        for (int64_t h = 0; h < c.shape.kv_heads; h++)
            for (int64_t j = 0; j < shown; j++) c.v.set({b, first + j, h, j}, 1);
}

} // namespace

TEST_CASE("decode with dropout: every key of every row is dropped or kept as documented, in whichever part it is") {
    constexpr int64_t keys = 2125, shown = 64, heads = 6, queries = 3;
    for (const gyre_dtype type : types)
        for (const int64_t head_dim : {64, 72, 128})
            for (const int64_t first : {int64_t{0}, int64_t{1001}, keys - shown}) {
                AttentionCase c(
                    AttentionShape().batches(2).lengths(queries, keys).head_counts(heads, 2).dims(head_dim).of(type));
                show_keys(c, first, shown);
                set_dropout(c.args, 0.3f);
                each_target([&](gyre_context *context) {
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    CHECK(ran(context, "decode_dropout"));
                    const Dense out = c.output();
                    long wrong = 0;
                    for (int64_t b = 0; b < 2; b++)
                        for (int64_t i = 0; i < queries; i++)
                            for (int64_t h = 0; h < heads; h++)
                                for (int64_t j = 0; j < shown; j++) {
                                    const bool dropped = dropout_factor(c.args, heads, b, h, i, first + j) == 0;
                                    wrong += dropped != (out.head(b, i, h)[j] == 0);
                                }
                    CHECK(wrong == 0);
                });
            }
}

TEST_CASE("decode with dropout: keys in pages give the bits of those without") {
    for (const gyre_dtype type : types) {
        PagedCase c(AttentionShape().batches(2).lengths(3, 2500).head_counts(8, 2).dims(64).of(type), 32, {2500, 1500});
        set_dropout(c.plain.args, 0.3f);
        c.plain.args.causal = 1;
        c.plain.args.window_left = 1100;
        c.check();
    }
}

TEST_CASE("decode with dropout: rows get nothing of keys that they do not see, whatever these hold") {
    for (const gyre_dtype type : types) {
        AttentionCase c(AttentionShape().lengths(3, 700).head_counts(4, 2).dims(64).of(type));
        set_dropout(c.args, 0.3f);
        c.args.causal = 1;
        check_garbage(c, [](int64_t i, int64_t j) { return j <= 697 + i; }, {699});
        Tensor mask(GYRE_BOOL, {3, 700});
        mask.fill(1);
        for (const int64_t i : {0, 2}) mask.set({i, 130}, 0);
        c.args.mask = c.hold(std::move(mask));
        check_garbage(c, [](int64_t i, int64_t j) { return j <= 697 + i && (j != 130 || i == 1); }, {130});
    }
}

TEST_CASE("decode with dropout: the same bits with any number of threads") {
    for (const gyre_dtype type : types) {
        AttentionCase c(AttentionShape().batches(2).lengths(2, 5000).head_counts(8, 2).dims(128).of(type));
        set_dropout(c.args, 0.2f);
        c.check_threads({1, 2, 5});
    }
}

TEST_CASE("decode with dropout: not where many queries of a head see keys of one part, on x86") {
    const auto family_is = [](int64_t queries, int64_t keys, const std::string &family) {
        AttentionCase c(AttentionShape().lengths(queries, keys).head_counts(4, 2).dims(64));
        set_dropout(c.args, 0.2f);
        each_target([&](gyre_context *context) {
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const bool has_limits = text(gyre_context_target(context)).rfind("x86_64", 0) == 0;
            CHECK(ran(context, has_limits || queries > 16 ? family : "decode_dropout"));
        });
    };
    family_is(6, 6, "decode_dropout");
    family_is(7, 15, "dropout");
    family_is(7, 16, "decode_dropout");
    family_is(12, 40, "decode_dropout");
    family_is(13, 40, "dropout");
    family_is(13, 1024, "dropout");
    family_is(16, 1025, "decode_dropout");
    family_is(17, 1025, "dropout");
}
