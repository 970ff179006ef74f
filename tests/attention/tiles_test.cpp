/// gyre_attention() in every type that some targets multiply on matrix tiles: every edge that cuts a tile, scores so large
/// or so equal that a shortcut in the softmax would show, and numbers that are sums of several bf16 numbers.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"

#include <algorithm>
#include <cmath>
#include <functional>

using namespace gyre::test;

namespace {

/// Products of ones and of 64 features that are all alike are rounded alike.
constexpr double roundings_alike = 64;

AttentionCase tile_case(gyre_dtype type, int64_t rows, int64_t keys, int64_t head_dim) {
    return AttentionCase(AttentionShape().lengths(rows, keys).head_counts(2, 1).dims(head_dim).of(type));
}

template <typename Test>
void each_type(const Test &test) {
    for (const gyre_dtype type : {GYRE_F32, GYRE_F16, GYRE_BF16}) test(type);
}

void scale(Tensor &tensor, double factor) {
    std::vector<double> values = tensor.values();
    for (double &value : values) value *= factor;
    tensor.set_values(values);
}

/// Every key of `tensor`, or one, becomes the same in every feature.
void set_key(Tensor &tensor, int64_t key, double value) {
    for (int64_t d = 0; d < tensor.shape()[3]; d++) tensor.set({0, key, 0, d}, value);
}

} // namespace

TEST_CASE("tiles: lengths around the sizes of tiles and blocks, causal and not") {
    each_type([](gyre_dtype type) {
        for (const int64_t rows : {1, 15, 16, 17, 31, 33, 64, 97})
            for (const int64_t keys : {1, 16, 31, 32, 33, 64, 127, 128, 129, 255, 257, 300})
                for (const int causal : {0, 1}) {
                    AttentionCase c = tile_case(type, rows, keys, 64);
                    c.args.causal = causal;
                    c.check();
                }
    });
}

TEST_CASE("tiles: head sizes that are and are not whole tiles, of keys and of values") {
    each_type([](gyre_dtype type) {
        for (const int64_t head_dim : {1, 8, 16, 24, 32, 40, 64, 72, 80, 96, 128, 160, 200, 256, 512})
            for (const int64_t v_head_dim : {head_dim, (head_dim + 1) / 2}) {
                AttentionCase c(
                    AttentionShape().lengths(40, 150).head_counts(2, 1).dims(head_dim, v_head_dim).of(type));
                c.args.causal = 1;
                c.check();
            }
    });
}

TEST_CASE("tiles: windows on either side, in both alignments") {
    each_type([](gyre_dtype type) {
        for (const gyre_alignment alignment : {GYRE_BOTTOM_RIGHT, GYRE_TOP_LEFT})
            for (const int64_t left : {-1, 0, 1, 30, 64, 200})
                for (const int64_t right : {-1, 0, 1, 33, 100})
                    for (const auto &lengths :
                         std::vector<std::pair<int64_t, int64_t>>{{40, 300}, {200, 200}, {300, 70}}) {
                        AttentionCase c = tile_case(type, lengths.first, lengths.second, 64);
                        c.args.alignment = alignment;
                        c.args.window_left = left;
                        c.args.window_right = right;
                        c.check();
                    }
    });
}

TEST_CASE("tiles: scores of every size, of either sign, and none") {
    each_type([](gyre_dtype type) {
        for (const float factor : {60.0f, 1.0f, 0.01f, 0.0f, -1.0f, -60.0f})
            for (const int causal : {0, 1}) {
                AttentionCase c = tile_case(type, 70, 400, 64);
                c.args.causal = causal;
                c.args.scale = factor == 0.0f ? 1e-30f : factor / 8;
                c.check();
            }
        for (const double factor : {60.0, 1000.0, 1e6}) {
            if (type == GYRE_F16 && factor > 1e4) continue; // beyond its range
            AttentionCase c = tile_case(type, 70, 400, 128);
            scale(c.q, factor);
            c.check();
        }
    });
}

TEST_CASE("tiles: masked keys have no weight, however small the scale is") {
    each_type([](gyre_dtype type) {
        for (const float tiny : {1e-29f, 1e-31f, 1e-36f, 1e-37f, -1e-38f, 1e-44f})
            for (const int64_t head_dim : {64, 72})
                for (const bool with_lse : {true, false}) {
                    AttentionCase c = tile_case(type, 70, 400, head_dim);
                    c.args.causal = 1;
                    c.args.window_left = 90;
                    c.args.scale = tiny;
                    if (!with_lse) c.args.lse = nullptr;
                    c.check();
                }
    });
}

TEST_CASE("tiles: scores of a tiny scale are those of large numbers") {
    for (const float tiny : {0x1p-99f, 0x1p-101f, -0x1p-103f, 0x1p-110f}) {
        AttentionCase c = tile_case(GYRE_BF16, 70, 400, 64);
        const double factor = 1 / std::sqrt(std::fabs((double)tiny)) / 3;
        scale(c.q, factor);
        scale(c.k, factor);
        c.args.scale = tiny;
        c.check();
    }
}

TEST_CASE("tiles: one key far above all others, wherever it is") {
    each_type([](gyre_dtype type) {
        for (const int64_t key : {0, 1, 31, 32, 127, 128, 250, 399})
            for (const double size : {3.0, 40.0, 1e4}) {
                AttentionCase c = tile_case(type, 70, 400, 64);
                c.q.fill(1.0);
                c.roundings_of_score += roundings_alike;
                set_key(c.k, key, size);
                c.check();
            }
    });
}

TEST_CASE("tiles: one key far below all others, and keys that are all the same") {
    each_type([](gyre_dtype type) {
        for (const double size : {-40.0, -1e4}) {
            AttentionCase c = tile_case(type, 70, 400, 64);
            c.q.fill(1.0);
            c.roundings_of_score += roundings_alike;
            set_key(c.k, 200, size);
            c.check();
        }
        for (const double value : {0.0, 1.0, -3.0, 300.0}) {
            AttentionCase c = tile_case(type, 70, 400, 64);
            c.k.fill(value);
            c.check();
        }
    });
}

TEST_CASE("tiles: scores that rise and fall from block to block") {
    each_type([](gyre_dtype type) {
        for (const double slope : {0.02, 1.0, -0.02, -1.0}) {
            AttentionCase c = tile_case(type, 70, 600, 64);
            c.q.fill(1.0);
            c.roundings_of_score += roundings_alike;
            for (int64_t key = 0; key < 600; key++) set_key(c.k, key, slope * static_cast<double>(key) / 8);
            c.check();
        }
    });
}

TEST_CASE("tiles: rows that see nothing are 0, beside rows that do") {
    each_type([](gyre_dtype type) {
        for (const int64_t keys : {7, 64, 130}) {
            AttentionCase c = tile_case(type, 200, keys, 64);
            c.args.causal = 1;
            c.check();
        }
    });
}

TEST_CASE("tiles: rotations of queries, keys, values and outputs at every head size") {
    each_type([](gyre_dtype type) {
        for (const int64_t head_dim : {24, 64, 80, 128})
            for (const gyre_pairing pairing : {GYRE_HALF, GYRE_INTERLEAVED})
                for (const int what : {1, 2, 3}) {
                    AttentionCase c = tile_case(type, 50, 210, head_dim);
                    gyre_rope rope = gyre_rope_defaults();
                    rope.pairing = pairing;
                    if (what & 1) c.args.rope = &rope;
                    if (what & 2) c.args.value_rope = &rope;
                    c.args.causal = 1;
                    c.check();
                }
    });
}

TEST_CASE("tiles: the same bits for any number of threads and any cut of the rows") {
    each_type([](gyre_dtype type) {
        const std::function<std::vector<uint64_t>(gyre_context *, AttentionCase &)> bits = [](gyre_context *context,
                                                                                              AttentionCase &c) {
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            return c.out.bits();
        };
        for (const std::string &target : runnable_targets()) {
            const Context one(target.c_str(), 1), four(target.c_str(), 4);
            AttentionCase c(AttentionShape().lengths(500, 700).head_counts(3, 1).dims(64).of(type));
            c.args.causal = 1;
            const std::vector<uint64_t> expected = bits(one, c);
            for (int repeat = 0; repeat < 5; repeat++) CHECK(bits(four, c) == expected);
        }
    });
}

TEST_CASE("tiles: f32 keeps its precision at magnitudes far from 1") {
    for (const double factor : {0x1p100, 0x1p-90}) {
        AttentionCase c = tile_case(GYRE_F32, 70, 400, 64);
        scale(c.v, factor);
        each_target([&](gyre_context *context) {
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const Dense expected = oracle_attention(c.args, nullptr).out;
            const std::vector<double> values = c.out.values();
            double worst = 0;
            for (size_t i = 0; i < values.size(); i++)
                worst = std::max(worst, std::fabs(values[i] - expected.data[i]) / factor);
            CHECK(worst < 1e-6);
        });
    }
    AttentionCase opposite = tile_case(GYRE_F32, 70, 400, 64);
    scale(opposite.q, 0x1p60);
    scale(opposite.k, 0x1p-60);
    opposite.check();
}
