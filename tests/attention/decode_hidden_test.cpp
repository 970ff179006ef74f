/// gyre_attention() of few queries with options: what is not finite shows where it is seen, and nowhere else.
#include "support/attention_case.h"
#include "support/decode_options.h"
#include "support/each_kernel.h"
#include "support/masked_garbage.h"

#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

} // namespace

TEST_CASE("decode with options: values and keys of masked keys reach nothing, whatever they hold") {
    for (const double poison : {std::numeric_limits<double>::quiet_NaN(), infinity})
        for (const bool by_bias : {false, true})
            for (const int64_t head_dim : {64, 40})
                for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16}) {
                    AttentionCase c(AttentionShape().lengths(2, 1200).head_counts(4, 2).dims(head_dim).of(dtype));
                    std::vector<double> hidden;
                    for (int64_t j = 0; j < 1200; j++) hidden.push_back(j % 7 == 3 || (j > 500 && j < 640));
                    Tensor flags(by_bias ? GYRE_F32 : GYRE_BOOL, {1200});
                    for (int64_t j = 0; j < 1200; j++)
                        flags.set({j}, by_bias ? (hidden[static_cast<size_t>(j)] ? -infinity : 0.5)
                                               : 1 - hidden[static_cast<size_t>(j)]);
                    (by_bias ? c.args.bias : c.args.mask) = c.hold(std::move(flags));
                    give_options(c, 28);
                    for (int64_t j = 0; j < 1200; j++)
                        for (int64_t h = 0; hidden[static_cast<size_t>(j)] && h < 2; h++)
                            for (int64_t d = 0; d < head_dim; d += 3) {
                                c.k.set({0, j, h, d}, poison);
                                c.v.set({0, j, h, d}, poison);
                            }
                    c.check();
                }
}

TEST_CASE("decode with options: one NaN in a value that a mask hides reaches nothing, in whichever feature, of any "
          "head size") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const int64_t head_dim : {17, 31, 40, 64, 72, 104, 136, 200})
        for (const gyre_dtype dtype : {GYRE_F32, GYRE_BF16})
            for (int64_t feature = 0; feature < head_dim; feature += feature % 8 == 0 ? 7 : 1) {
                CAPTURE(head_dim);
                CAPTURE(feature);
                AttentionCase c(AttentionShape().lengths(2, 21).head_counts(1, 1).dims(head_dim).of(dtype));
                Tensor mask(GYRE_BOOL, {2, 21});
                mask.fill(1);
                mask.set({1, 20}, 0);
                mask.set({0, 20}, 0);
                c.args.mask = c.hold(std::move(mask));
                c.v.set({0, 20, 0, feature}, nan);
                c.check();
            }
}

TEST_CASE("decode with options: what a row does not see changes none of its bits, also where values of whole groups "
          "are read from several places") {
    constexpr int64_t queries = 3, keys = 429, first_token = keys - queries, window = 300;
    for (const int64_t head_dim : {64, 72, 96, 120, 128, 136}) {
        AttentionCase c(AttentionShape().lengths(queries, keys).head_counts(2, 2).dims(head_dim).of(GYRE_F32));
        c.args.causal = 1;
        c.args.window_left = window;
        const RowSees sees = [&](int64_t i, int64_t j) {
            return j <= i + first_token && j >= i + first_token - window;
        };
        check_garbage(c, sees,
                      {first_token - window - 1, first_token - window, first_token - window + 1, keys - 2, keys - 1});
    }
}

TEST_CASE("decode: values of every number of vectors, beside keys that are read in order or from several places") {
    for (const int64_t of_keys : {40, 64, 72, 128, 136})
        for (const int64_t of_values :
             {8, 56, 60, 64, 65, 72, 80, 88, 96, 100, 104, 112, 120, 127, 128, 129, 136, 192, 250}) {
            AttentionCase c(AttentionShape().lengths(2, 330).head_counts(2, 2).dims(of_keys, of_values).of(GYRE_F32));
            c.args.causal = 1;
            c.args.window_left = 290;
            c.check();
        }
}

TEST_CASE("decode with sinks: NaN in a value that is seen shows, however large the sink") {
    for (const int64_t heads : {1, 8})
        for (const int64_t seqlen_kv : {40, 1500}) {
            AttentionCase c(AttentionShape().lengths(1, seqlen_kv).head_counts(heads, 1).dims(64));
            c.args.sinks = c.hold(GYRE_F32, std::vector<double>(static_cast<size_t>(heads), 500));
            c.v.set({0, 3, 0, 5}, std::numeric_limits<double>::quiet_NaN());
            each_target([&](gyre_context *context) {
                REQUIRE(c.run(context) == GYRE_OK);
                const std::vector<double> out = c.out.values();
                for (int64_t h = 0; h < heads; h++)
                    for (int64_t d = 0; d < 64; d++)
                        CHECK(std::isnan(out[static_cast<size_t>(h * 64 + d)]) == (d == 5));
            });
        }
}
