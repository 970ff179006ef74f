/// Counts of rows around the edges of vectors and of row tiles, whose last one may be short.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/masked_garbage.h"

using namespace gyre::test;

namespace {

/// Vectors have 8 or 16 rows, and tiles up to four of them.
const std::vector<int64_t> counts = {15, 16, 17, 23, 24, 25, 31, 32, 33, 40, 41, 47,
                                     48, 49, 56, 57, 63, 64, 65, 80, 81, 95, 96, 97};
constexpr int64_t most = 113;

} // namespace

TEST_CASE("row tiles: every count of rows, with a bias and without") {
    for (const gyre_dtype type : {GYRE_F32, GYRE_BF16, GYRE_F16})
        for (const int64_t head_dim : {64, 72})
            for (const int64_t rows : counts)
                for (const bool biased : {false, true}) {
                    CAPTURE(rows);
                    AttentionCase c(AttentionShape().lengths(rows, 75).dims(head_dim).of(type));
                    c.args.causal = rows % 2;
                    if (biased) {
                        Tensor bias(type, {1, rows, 75});
                        bias.fill_normal(3);
                        c.args.bias = c.hold(std::move(bias));
                    }
                    c.check();
                }
}

TEST_CASE("row tiles: several blocks of keys, and head sizes of odd and even numbers of chunks of features") {
    for (const gyre_dtype type : {GYRE_F32, GYRE_BF16, GYRE_F16})
        for (const int64_t head_dim : {1, 8, 9, 12, 20, 76})
            for (const int64_t rows : {25, 49, 56, 80})
                for (const bool biased : {false, true}) {
                    CAPTURE(rows);
                    AttentionCase c(AttentionShape().lengths(rows, 300).dims(head_dim).of(type));
                    if (biased) {
                        Tensor bias(type, {1, rows, 300});
                        bias.fill_normal(3);
                        c.args.bias = c.hold(std::move(bias));
                    }
                    c.check();
                }
}

TEST_CASE("row tiles: rows of several heads, a mask, and threads") {
    for (const int64_t tokens : {5, 11, 17, 25})
        for (const bool masked : {false, true}) {
            AttentionCase c(AttentionShape().lengths(tokens, 150).head_counts(6, 2).dims(64));
            c.args.causal = 1;
            if (masked) {
                Tensor mask(GYRE_BOOL, {1, tokens, 150});
                for (int64_t i = 0; i < tokens; i++)
                    for (int64_t j = 0; j < 150; j++) mask.set({0, i, j}, (i + j) % 3 != 0);
                c.args.mask = c.hold(std::move(mask));
            }
            c.check();
            c.check_threads({1, 2, 3});
        }
}

TEST_CASE("row tiles: a row has the same bits in a tile that is short and in one that is not") {
    for (const gyre_dtype type : {GYRE_F32, GYRE_BF16, GYRE_F16})
        for (const int64_t head_dim : {64, 72, 128})
            for (const bool biased : {false, true}) {
                AttentionCase c(AttentionShape().lengths(most, 75).dims(head_dim).of(type));
                c.args.lse = nullptr;
                if (biased) {
                    Tensor bias(GYRE_F32, {1, 1, 75});
                    bias.fill_normal(3);
                    c.args.bias = c.hold(std::move(bias));
                }
                for (const std::string &target : runnable_targets()) {
                    if (target == "x86_64_amx") continue; // where what a tile's rows are tells how they are computed
                    CAPTURE(target);
                    const Context context(target.c_str(), 1);
                    c.args.q.shape[1] = c.args.out.shape[1] = most;
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    const std::vector<uint64_t> all = c.out.bits();
                    for (const int64_t rows : counts) {
                        if (rows < 17) continue; // other kernels take few rows
                        // Without a bias others may take the last ones, too.
                        const int64_t same = biased ? rows : rows - rows % 8;
                        CAPTURE(rows);
                        c.args.q.shape[1] = c.args.out.shape[1] = rows;
                        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                        if (text(gyre_selected_kernel(context)).rfind("attention_key_columns", 0) == 0) continue;
                        const std::vector<uint64_t> some = c.out.bits();
                        CHECK(std::equal(all.begin(), all.begin() + same * head_dim, some.begin()));
                    }
                }
            }
}

TEST_CASE("row tiles: NaN in keys and values that some rows do not see") {
    for (const gyre_dtype type : {GYRE_F32, GYRE_BF16, GYRE_F16})
        for (const int64_t head_dim : {64, 72})
            for (const int64_t rows : {17, 33, 41, 49, 65}) {
                CAPTURE(rows);
                AttentionCase c(AttentionShape().lengths(rows, rows).dims(head_dim).of(type));
                c.args.causal = 1;
                check_garbage(c, [](int64_t i, int64_t j) { return j <= i; }, {rows - 1, rows - 3, rows / 2});
            }
}

TEST_CASE("row tiles: windows and prompts of every length, whose tiles have fewer vectors than others") {
    for (const gyre_dtype type : {GYRE_F32, GYRE_BF16, GYRE_F16})
        for (const int64_t head_dim : {64, 72})
            for (const int64_t window : {0, 5, 31, 90})
                for (const int64_t heads : {1, 3}) {
                    AttentionCase c(AttentionShape().lengths(113, 130).head_counts(heads, 1).dims(head_dim).of(type));
                    c.args.causal = 1;
                    if (window > 0) c.args.window_left = window;
                    c.check();
                    c.check_threads({1, 2, 3});
                }
}

TEST_CASE("row tiles: a row has the same bits whatever number of vectors its tile has") {
    constexpr int64_t tokens = 400; // more than tiles of one vector have room for
    for (const gyre_dtype type : {GYRE_F32, GYRE_F16})
        for (const int64_t head_dim : {64, 72, 128})
            for (const int64_t window : {0, 31}) {
                AttentionCase c(AttentionShape().lengths(tokens, tokens).dims(head_dim).of(type));
                c.args.lse = nullptr;
                c.args.causal = 1;
                if (window > 0) c.args.window_left = window;
                for (const std::string &target : runnable_targets()) {
                    if (target == "x86_64_amx") continue; // where what a tile's rows are tells how they are computed
                    CAPTURE(target);
                    const Context context(target.c_str(), 1);
                    const auto bits_of = [&](int64_t rows) {
                        for (gyre_tensor *t : {&c.args.q, &c.args.k, &c.args.v, &c.args.out}) t->shape[1] = rows;
                        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                        return c.out.bits();
                    };
                    const std::vector<uint64_t> all = bits_of(tokens);
                    for (const int64_t rows : {17, 40, 68, 150, 177, 300}) {
                        CAPTURE(rows);
                        const std::vector<uint64_t> some = bits_of(rows);
                        const int64_t same = rows - rows % 8; // others may take the last ones
                        CHECK(std::equal(all.begin(), all.begin() + same * head_dim, some.begin()));
                    }
                }
            }
}
