/// What is masked does not matter, whatever it holds: a result has the bits that it has without garbage in the keys and values
/// of masked keys.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/masked_garbage.h"
#include "support/random.h"

#include <cmath>
#include <limits>
#include <utility>

using namespace gyre::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

const gyre_dtype types[] = {GYRE_F32, GYRE_BF16, GYRE_F16};

} // namespace

TEST_CASE("masked keys: of causal attention, from the first row that does not see a key to the last that does") {
    for (const gyre_dtype type : types)
        for (const int64_t head_dim : {64, 72})
            for (const int64_t rows : {3, 100}) {
                AttentionCase c(AttentionShape().lengths(rows, 150).head_counts(2, 1).dims(head_dim).of(type));
                c.args.causal = 1;
                const RowSees sees = [&](int64_t i, int64_t j) { return j <= i + 150 - rows; };
                check_garbage(c, sees, {149});
                check_garbage(c, sees, {150 - rows + 1, 150 - rows / 2});
            }
}

TEST_CASE("masked keys: the last feature alone of the first value that some row does not see") {
    for (const gyre_dtype type : types)
        for (const int64_t head_dim : {16, 40, 64, 112, 160, 256})
            for (const auto &[rows, by_mask] :
                 {std::pair<int64_t, bool>{2, false}, {4, false}, {30, false}, {2, true}, {30, true}}) {
                AttentionCase c(AttentionShape().lengths(rows, 150).head_counts(2, 2).dims(head_dim).of(type));
                const int64_t hidden = by_mask ? 75 : 150 - rows + 1; // to the first row
                c.args.causal = !by_mask;
                if (by_mask) {
                    Tensor mask(GYRE_BOOL, {rows, 150});
                    for (int64_t i = 0; i < rows; i++)
                        for (int64_t j = 0; j < 150; j++) mask.set({i, j}, i > 0 || j != hidden);
                    c.args.mask = c.hold(std::move(mask));
                }
                const double before = c.v.get({0, hidden, 0, head_dim - 1});
                each_target([&](gyre_context *context) {
                    c.v.set({0, hidden, 0, head_dim - 1}, before);
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    const Dense clean = c.output();
                    c.v.set({0, hidden, 0, head_dim - 1}, std::nan(""));
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    const Dense out = c.output();
                    CAPTURE(text(gyre_selected_kernel(context)));
                    CHECK(std::equal(clean.head(0, 0, 0), clean.head(0, 0, 0) + head_dim, out.head(0, 0, 0)));
                    CHECK(std::isnan(out.head(0, 1, 0)[head_dim - 1]));
                });
            }
}

TEST_CASE("masked keys: of many queries, whose keys and values may be formed once for all tasks") {
    for (const int64_t head_dim : {64, 128}) {
        AttentionCase c(AttentionShape().lengths(270, 300).head_counts(8, 1).dims(head_dim).of(GYRE_BF16));
        const gyre_rope rope = gyre_rope_defaults();
        c.args.causal = 1;
        const RowSees sees = [&](int64_t i, int64_t j) { return j <= i + 30; };
        check_garbage(c, sees, {100, 299});
        c.args.value_rope = &rope;
        check_garbage(c, sees, {299});
    }
}

TEST_CASE("masked keys: before and behind a window") {
    for (const gyre_dtype type : types)
        for (const int64_t rows : {3, 100}) {
            AttentionCase c(AttentionShape().lengths(rows, 400).head_counts(2, 1).dims(64).of(type));
            c.args.window_left = 40;
            c.args.window_right = 3;
            const RowSees sees = [&](int64_t i, int64_t j) {
                const int64_t ahead = j - (i + 400 - rows);
                return ahead >= -40 && ahead <= 3;
            };
            check_garbage(c, sees, {0, 100, 400 - rows - 41});
            check_garbage(c, sees, {400 - rows - 38, 400 - rows / 2});
        }
}

TEST_CASE(
    "masked keys: the one key of a block that the first row, or the last, does not see, whatever a kernel's block is") {
    const int64_t rows = 20;
    for (const gyre_dtype type : types)
        for (const int64_t block : {16, 32, 64, 96, 128, 192, 256, 512, 1024}) {
            AttentionCase causal(AttentionShape().lengths(rows, block + rows - 2).dims(64).of(type));
            causal.args.causal = 1;
            check_garbage(causal, [&](int64_t i, int64_t j) { return j <= i + block - 2; }, {block - 1});

            AttentionCase window(AttentionShape().lengths(rows, 2 * block).dims(64).of(type));
            window.args.window_left = block - 2;
            window.args.window_right = rows;
            check_garbage(window, [&](int64_t i, int64_t j) { return j >= i + block + 2 - rows; }, {block});
        }
}

TEST_CASE("masked keys: the one key of a block that the last row does not see, where blocks begin before a window") {
    for (const gyre_dtype type : types)
        for (const int64_t block : {16, 32, 64, 96, 128, 192, 256}) {
            // Row i sees the keys from i on, so that blocks begin with key 0. Three heads leave no few rows to another kernel.
            AttentionCase c(AttentionShape().lengths(block + 2, 2 * block).head_counts(3, 1).dims(64).of(type));
            c.args.window_left = block - 2;
            c.args.window_right = block + 2;
            check_garbage(c, [](int64_t i, int64_t j) { return j >= i; }, {block});
        }
}

TEST_CASE("masked keys: by a boolean mask, and by a bias of -inf, for all rows and for some") {
    const int64_t rows = 33, count = 300;
    for (const gyre_dtype type : types)
        for (const int64_t head_dim : {64, 72})
            for (const bool boolean : {true, false})
                for (const bool for_all : {true, false}) {
                    AttentionCase c(AttentionShape().lengths(rows, count).head_counts(2, 1).dims(head_dim).of(type));
                    Tensor mask(boolean ? GYRE_BOOL : GYRE_F32, {rows, count});
                    if (!boolean) mask.fill_normal(3);
                    const RowSees sees = [&](int64_t i, int64_t j) {
                        return j % 7 != 3 && (for_all || (i * 5 + j) % 3 != 0) && i != 20;
                    };
                    for (int64_t i = 0; i < rows; i++)
                        for (int64_t j = 0; j < count; j++)
                            if (boolean)
                                mask.set({i, j}, sees(i, j));
                            else if (!sees(i, j))
                                mask.set({i, j}, -infinity);
                    (boolean ? c.args.mask : c.args.bias) = c.hold(std::move(mask));
                    check_garbage(c, sees, {3, 10, 150, 297});
                    check_garbage(c, sees, {1, 295});
                }
}

TEST_CASE("masked keys: few queries, one key of one row by a boolean mask or a bias of -inf") {
    const int64_t rows = 4, count = 300;
    for (const gyre_dtype type : types)
        for (const int64_t head_dim : {64, 72})
            for (const bool boolean : {true, false})
                for (const int64_t row : {int64_t{0}, rows - 1})
                    for (const int64_t key : {0, 131, 299}) {
                        AttentionCase c(
                            AttentionShape().lengths(rows, count).head_counts(2, 1).dims(head_dim).of(type));
                        Tensor mask(boolean ? GYRE_BOOL : GYRE_F32, {rows, count});
                        mask.fill(boolean ? 1 : 0);
                        mask.set({row, key}, boolean ? 0 : -infinity);
                        (boolean ? c.args.mask : c.args.bias) = c.hold(std::move(mask));
                        check_garbage(c, [&](int64_t i, int64_t j) { return i != row || j != key; }, {key});
                    }
}

TEST_CASE("masked keys: past a sequence's length") {
    for (const gyre_dtype type : types)
        for (const int64_t rows : {3, 40})
            for (const int64_t used : {1, 63, 130}) {
                AttentionCase c(AttentionShape().lengths(rows, 200).head_counts(2, 1).dims(64).of(type));
                c.args.seqused_k = c.hold(GYRE_I32, {(double)used});
                check_garbage(c, [&](int64_t, int64_t j) { return j < used; }, {used, used + 1, 199});
            }
}

TEST_CASE("weights have no floor: a key far below the largest score adds nothing, whatever it holds") {
    for (const int64_t head_dim : {64, 72}) {
        AttentionCase c(AttentionShape().lengths(20, 40).dims(head_dim));
        Tensor bias(GYRE_F32, {40});
        bias.fill(0);
        for (int64_t j = 0; j < 40; j += 3) bias.set({j}, -1e4);
        c.args.bias = c.hold(std::move(bias));
        for (int64_t j = 0; j < 40; j += 3)
            for (int64_t d = 0; d < head_dim; d++) c.v.set({0, j, 0, d}, 1e25);
        c.check();
    }
}

TEST_CASE("weights have no floor: a sink far above all scores takes all the weight") {
    AttentionCase c(AttentionShape().lengths(20, 40).dims(64));
    c.args.sinks = c.hold(GYRE_F32, {80});
    for (int64_t j = 0; j < 40; j++)
        for (int64_t d = 0; d < 64; d++) c.v.set({0, j, 0, d}, 1e25);
    const OracleAttention expected = oracle_attention(c.args);
    each_target([&](gyre_context *context) {
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        const Dense out = c.output();
        for (size_t n = 0; n < out.data.size(); n++) // a score's rounding, 80 2^-24, and sums of positive numbers
            CHECK(std::fabs(out.data[n] / expected.out.data[n] - 1) < 2e-5);
    });
}

TEST_CASE("a bias that is finite does not mask, the lowest one neither") {
    for (const double lowest : {-1e9, -1e38, -3.4e38})
        for (const int64_t head_dim : {64, 72}) {
            AttentionCase c(AttentionShape().lengths(20, 200).dims(head_dim));
            Tensor bias(GYRE_F32, {20, 200});
            bias.fill(lowest); // all that is added is the same, and swallows the scores
            for (int64_t i = 10; i < 20; i++) bias.set({i, i}, 0);
            c.args.bias = c.hold(std::move(bias));
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const Dense out = c.output();
                for (int64_t i = 0; i < 20; i++) {
                    std::vector<double> row(out.head(0, i, 0), out.head(0, i, 0) + head_dim), mean((size_t)head_dim);
                    for (int64_t j = 0; j < 200; j++)
                        for (int64_t d = 0; d < head_dim; d++)
                            mean[(size_t)d] += i >= 10 ? (j == i) * c.v.get({0, j, 0, d}) : c.v.get({0, j, 0, d}) / 200;
                    if (lowest < -1e37 || i >= 10) check_close("out", row, mean, 2e-6);
                    CHECK(std::isfinite(c.lse.get({0, 0, i})));
                }
            });
        }
}
