/// NaN and infinity in what counts reach the results that depend on it, as NaN.
#include "support/append_case.h"
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/merge_case.h"
#include "support/rotary_case.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace gyre::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const gyre_dtype types[] = {GYRE_F32, GYRE_BF16, GYRE_F16};
const int64_t few_rows = 2, many_rows = 20; // decoding, and not

/// Which rows of out are NaN throughout, and of lse; 'x' where some elements are and some are not.
std::string nan_rows(const AttentionCase &c) {
    std::string rows;
    const Dense out = c.output();
    for (int64_t i = 0; i < c.shape.seqlen_q; i++) {
        int64_t count = 0;
        for (int64_t d = 0; d < c.shape.v_head_dim; d++) count += std::isnan(out.head(0, i, 0)[d]);
        const bool lse = std::isnan(c.lse.get({0, 0, i}));
        rows += count == 0 && !lse ? '.' : count == c.shape.v_head_dim && lse ? 'N' : 'x';
    }
    return rows;
}

} // namespace

TEST_CASE("NaN: a query that is NaN gives NaN, and the others what they gave") {
    for (const gyre_dtype type : types)
        for (const int64_t head_dim : {64, 72})
            for (const int64_t rows : {few_rows, many_rows})
                for (const int64_t keys : {50, 3000}) {
                    AttentionCase c(AttentionShape().lengths(rows, keys).dims(head_dim).of(type));
                    c.q.set({0, 1, 0, 5}, std::nan(""));
                    std::string expected((size_t)rows, '.');
                    expected[1] = 'N';
                    each_target([&](gyre_context *context) {
                        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                        CAPTURE(text(gyre_selected_kernel(context)));
                        CHECK(nan_rows(c) == expected);
                    });
                }
}

TEST_CASE("NaN: a key that is NaN, or scores +inf, gives NaN in every row that sees it, in whichever part it is") {
    for (const gyre_dtype type : types)
        for (const int64_t rows : {few_rows, many_rows})
            for (const double bad : {std::nan(""), infinity})
                for (const int64_t key : {0, 700, 2999}) {
                    AttentionCase c(AttentionShape().lengths(rows, 3000).dims(64).of(type));
                    for (int64_t i = 0; i < rows; i++) c.q.set({0, i, 0, 9}, 1);
                    c.k.set({0, key, 0, 9}, bad);
                    CAPTURE(key);
                    each_target([&](gyre_context *context) {
                        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                        CAPTURE(text(gyre_selected_kernel(context)));
                        CHECK(nan_rows(c) == std::string((size_t)rows, 'N'));
                    });
                }
}

TEST_CASE("NaN: of every payload, and of either sign") {
    for (const uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7fc00001u, 0xffffffffu, 0x7fffffffu, 0x7fc001ffu}) {
        CAPTURE(bits);
        for (const int64_t rows : {few_rows, many_rows}) {
            AttentionCase c(AttentionShape().lengths(rows, 200).dims(64));
            std::memcpy((float *)c.q.view().data + 64, &bits, sizeof bits);
            std::string expected((size_t)rows, '.');
            expected[1] = 'N';
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                CAPTURE(text(gyre_selected_kernel(context)));
                CHECK(nan_rows(c) == expected);
            });
        }
    }
}

TEST_CASE("NaN: capped scores and those with a bias keep it, and a bias that is NaN gives it") {
    enum { of_capped, of_biased, of_bias, kinds };
    for (int kind = 0; kind < kinds; kind++) {
        CAPTURE(kind);
        AttentionCase c(AttentionShape().lengths(many_rows, 50).dims(64));
        Tensor bias(GYRE_F32, {many_rows, 50});
        bias.fill_normal(3);
        if (kind == of_bias)
            bias.set({1, 7}, std::nan(""));
        else
            c.q.set({0, 1, 0, 5}, std::nan(""));
        if (kind == of_capped)
            c.args.softcap = 30;
        else
            c.args.bias = c.hold(std::move(bias));
        std::string expected((size_t)many_rows, '.');
        expected[1] = 'N';
        each_target([&](gyre_context *context) {
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            CHECK(nan_rows(c) == expected);
        });
    }
}

TEST_CASE("NaN: a value that is NaN gives NaN in its feature alone") {
    for (const gyre_dtype type : types)
        for (const int64_t rows : {few_rows, many_rows}) {
            AttentionCase c(AttentionShape().lengths(rows, 200).dims(64).of(type));
            c.v.set({0, 100, 0, 7}, std::nan(""));
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                CAPTURE(text(gyre_selected_kernel(context)));
                int64_t wrong = 0;
                for (int64_t i = 0; i < rows; i++) {
                    wrong += std::isnan(c.lse.get({0, 0, i}));
                    for (int64_t d = 0; d < 64; d++) wrong += std::isnan(c.out.get({0, i, 0, d})) != (d == 7);
                }
                CHECK(wrong == 0);
            });
        }
}

TEST_CASE("NaN: a value shows beside a sink, however large") {
    for (const gyre_dtype type : types)
        for (const int64_t rows : {few_rows, many_rows})
            for (const double sink : {1.0, 100.0, 1e4}) {
                AttentionCase c(AttentionShape().lengths(rows, 200).dims(64).of(type));
                Tensor sinks(GYRE_F32, {1});
                sinks.fill(sink);
                c.args.sinks = c.hold(std::move(sinks));
                c.v.set({0, 100, 0, 7}, std::nan(""));
                each_target([&](gyre_context *context) {
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    CAPTURE(text(gyre_selected_kernel(context)));
                    for (int64_t i = 0; i < rows; i++) {
                        CHECK(std::isnan(c.out.get({0, i, 0, 7})));
                        CHECK(std::fabs(c.out.get({0, i, 0, 8})) < (sink > 50 ? 1e-30 : 10)); // what it leaves
                    }
                });
            }
}

TEST_CASE("NaN: a value shows in the rows that see it, however small its weight") {
    for (const gyre_dtype type : types)
        for (const int64_t rows : {few_rows, many_rows})
            for (const double score : {-50.0, -200.0, -3000.0})
                for (const bool by_bias : {false, true}) {
                    AttentionCase c(AttentionShape().lengths(rows, 200).dims(64).of(type));
                    Tensor bias(GYRE_F32, {200});
                    bias.fill(0);
                    bias.set({100}, score);
                    if (by_bias) c.args.bias = c.hold(std::move(bias));
                    for (int64_t d = 0; d < 64 && !by_bias; d++) {
                        for (int64_t i = 0; i < rows; i++) c.q.set({0, i, 0, d}, 8);
                        for (int64_t j = 0; j < 200; j++) c.k.set({0, j, 0, d}, j == 100 ? score / 64 : 0);
                    }
                    c.v.set({0, 100, 0, 7}, std::nan(""));
                    c.check(); // the oracle's weights are 0 where a key is masked alone
                }
}

TEST_CASE("NaN: merging keeps a part's") {
    for (const bool in_lse : {true, false})
        each_target([&](gyre_context *context) {
            MergeCase c(3, 1, 2, 2, 16);
            if (in_lse)
                c.part_lse.set({1, 0, 1}, std::nan(""));
            else
                for (int64_t d = 0; d < 16; d++) c.part_out.set({1, 1, 0, d}, std::nan(""));
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            int64_t wrong = 0;
            for (int64_t i = 0; i < 2; i++)
                for (int64_t h = 0; h < 2; h++) {
                    const bool expected = i == 1 && h == 0;
                    wrong += std::isnan(c.lse.get({0, h, i})) != (expected && in_lse);
                    for (int64_t d = 0; d < 16; d++) wrong += std::isnan(c.out.get({0, i, h, d})) != expected;
                }
            CHECK(wrong == 0);
        });
}

TEST_CASE("merge: denominators of large magnitude, as biases of -1e9 leave them, are no empty parts") {
    for (const double level : {-1e9, 1e9, -1.0000001e9, 3e9}) {
        CAPTURE(level);
        MergeCase c(3, 1, 4, 2, 16);
        c.part_lse.fill(level); // which swallows any difference of weights
        c.check();
    }
}

TEST_CASE("NaN: a rotation keeps it, of either sign, in its pair alone") {
    for (const gyre_dtype type : types)
        for (const int64_t dim : {64, 20})
            for (const double bad : {std::nan(""), -std::nan("")}) {
                RotaryCase c(RotaryShape().length(3).head_count(2).dim(dim).of(type));
                c.x.set({0, 1, 1, 2}, bad);
                each_target([&](gyre_context *context) {
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    int64_t wrong = 0;
                    for (int64_t i = 0; i < 3; i++)
                        for (int64_t h = 0; h < 2; h++)
                            for (int64_t d = 0; d < dim; d++) {
                                const bool expected = i == 1 && h == 1 && d % (dim / 2) == 2;
                                wrong += std::isnan(c.out.get({0, i, h, d})) != expected;
                                wrong += std::isinf(c.out.get({0, i, h, d}));
                            }
                    CHECK(wrong == 0);
                });
            }
}

TEST_CASE("NaN: a cache of any type keeps it, and infinity") {
    for (const auto &[from, to] : append_conversions)
        for (const double bad : {std::nan(""), infinity, -infinity})
            for (const int64_t dim : {64, 20}) {
                AppendCase c(AppendShape().adding({3}).dims(dim, dim).of(from, to));
                c.k.set({0, 1, 1, 2}, bad);
                c.v.set({0, 1, 1, 2}, bad);
                each_target([&](gyre_context *context) {
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    for (const Tensor *cache : {&c.k_cache, &c.v_cache}) {
                        const double got = cache->get({0, 1, 1, 2});
                        CHECK((std::isnan(bad) ? std::isnan(got) : got == bad));
                        CHECK(std::isfinite(cache->get({0, 1, 1, 3})));
                    }
                });
            }
}

TEST_CASE("NaN: a cache of 16 bits keeps those whose payload it has no room for") {
    for (const gyre_dtype to : {GYRE_BF16, GYRE_F16})
        for (const uint32_t bits : {0x7f800001u, 0xff801fffu, 0x7fc00000u, 0xffffffffu}) {
            CAPTURE(bits);
            AppendCase c(AppendShape().adding({3}).dims(64, 64).of(GYRE_F32, to));
            for (const gyre_tensor &t : {c.k.view(), c.v.view()})
                std::memcpy((float *)t.data + t.strides[1] + t.strides[2] + 2 * t.strides[3], &bits, sizeof bits);
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                CHECK(std::isnan(c.k_cache.get({0, 1, 1, 2})));
                CHECK(std::isnan(c.v_cache.get({0, 1, 1, 2})));
            });
        }
}

TEST_CASE("a cap far above all scores leaves them") {
    for (const float softcap : {50.0f, 1000.0f, 1e5f}) {
        AttentionCase c(AttentionShape().lengths(many_rows, 200).dims(64));
        c.args.softcap = softcap;
        c.check(2e-6); // whatever the cap is
    }
}
