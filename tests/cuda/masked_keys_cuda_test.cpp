/// Attention on CUDA devices: what a masked key and its value hold reaches no row that does not see it.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/key_pages.h"
#include "support/masked_garbage.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace gyre::test;

namespace {

const gyre_dtype types[] = {GYRE_BF16, GYRE_F16};
constexpr double infinity = std::numeric_limits<double>::infinity();

struct CausalCase : AttentionCase {
    CausalCase(int64_t rows, int64_t keys, int64_t dim, gyre_dtype type, Placement placement = {})
        : AttentionCase(
              AttentionShape().lengths(rows, keys).head_counts(2, 1).dims(dim).of(type).in(GYRE_BSHD, placement)) {
        args.causal = 1;
    }
};

RowSees causal(int64_t rows, int64_t keys) {
    return [=](int64_t i, int64_t j) { return j <= i + keys - rows; };
}

} // namespace

TEST_CASE("masked keys on devices: causal, with every head size and type, of many rows and of few") {
    for (const gyre_dtype type : types)
        for (const int64_t dim : {64, 96, 128, 256})
            for (const int64_t rows : {3, 70}) {
                CausalCase c(rows, 90, dim, type);
                check_garbage(c, causal(rows, 90), {89}, true);
                check_garbage(c, causal(rows, 90), {90 - rows + 1, 90 - rows / 2}, true);
            }
}

TEST_CASE("masked keys on devices: before and behind a window, and past a sequence's length") {
    for (const int64_t rows : {3, 60}) {
        AttentionCase c(AttentionShape().lengths(rows, 200).head_counts(2, 1).dims(64).of(GYRE_BF16));
        c.args.window_left = 40;
        c.args.window_right = 3;
        const RowSees sees = [&](int64_t i, int64_t j) {
            const int64_t ahead = j - (i + 200 - rows);
            return ahead >= -40 && ahead <= 3;
        };
        check_garbage(c, sees, {0, 100, 200 - rows - 41}, true);
        check_garbage(c, sees, {200 - rows - 38, 200 - rows / 2}, true);
        AttentionCase used(AttentionShape().lengths(rows, 140).head_counts(2, 1).dims(64).of(GYRE_F16));
        used.args.seqused_k = used.hold(GYRE_I32, {67});
        check_garbage(used, [](int64_t, int64_t j) { return j < 67; }, {67, 68, 139}, true);
        check_garbage(used, [](int64_t, int64_t j) { return j < 67; }, {3, 66}, true);
    }
}

TEST_CASE("masked keys on devices: rotated in the call, and in rows that asynchronous copies do not take") {
    const gyre_rope rope = gyre_rope_defaults();
    for (const gyre_dtype type : types)
        for (const int64_t dim : {64, 256}) {
            CausalCase c(40, 90, dim, type);
            c.args.value_rope = &rope;
            check_garbage(c, causal(40, 90), {60, 89}, true);
        }
    CausalCase apart(40, 90, 64, GYRE_BF16, Placement::with_gaps(3));
    check_garbage(apart, causal(40, 90), {60, 89}, true);
}

TEST_CASE("masked keys on devices: by a boolean mask, and by a bias of -inf of each type") {
    const int64_t rows = 21, count = 130;
    const RowSees sees = [&](int64_t i, int64_t j) { return j % 7 != 3 && (i * 5 + j) % 3 != 0 && i != 20; };
    for (const gyre_dtype type : types)
        for (const gyre_dtype of_mask : {GYRE_BOOL, GYRE_F32, GYRE_F16, GYRE_BF16})
            for (const int64_t dim : {64, 256}) {
                AttentionCase c(AttentionShape().lengths(rows, count).head_counts(2, 1).dims(dim).of(type));
                Tensor mask(of_mask, {rows, count});
                if (of_mask != GYRE_BOOL) mask.fill_normal(3);
                for (int64_t i = 0; i < rows; i++)
                    for (int64_t j = 0; j < count; j++)
                        if (of_mask == GYRE_BOOL)
                            mask.set({i, j}, sees(i, j));
                        else if (!sees(i, j))
                            mask.set({i, j}, -infinity);
                (of_mask == GYRE_BOOL ? c.args.mask : c.args.bias) = c.hold(std::move(mask));
                check_garbage(c, sees, {3, 10, 129}, true);
                if (dim == 64) check_garbage(c, sees, {1, 125}, true);
            }
}

TEST_CASE(
    "masked keys on devices: of packed sequences, where one begins with garbage that the one before does not see") {
    AttentionCase c(AttentionShape().lengths(40, 90).head_counts(2, 1).dims(64).of(GYRE_BF16).in(GYRE_THD));
    c.args.cu_seqlens_q = c.hold(GYRE_I32, {0, 25, 40});
    c.args.cu_seqlens_k = c.hold(GYRE_I32, {0, 50, 90});
    for (const int causal : {0, 1}) {
        c.args.causal = causal;
        const std::vector<double> k = c.k.values(), v = c.v.values();
        each_device([&](gyre_context *context) {
            REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
            const std::vector<double> clean = c.out.values();
            for (const double garbage : garbage_of(GYRE_BF16)) {
                for (int64_t d = 0; d < 64; d++) {
                    c.k.set({50, 0, d}, garbage);
                    c.v.set({50, 0, d}, garbage);
                }
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const std::vector<double> out = c.out.values();
                for (size_t n = 0; n < (size_t)(25 * 2 * 64); n++) REQUIRE(out[n] == clean[n]);
                if (!std::isfinite(garbage))
                    for (size_t n = out.size() - 64; n < out.size(); n++) REQUIRE_FALSE(std::isfinite(out[n]));
            }
        });
        c.k.set_values(k);
        c.v.set_values(v);
    }
}

TEST_CASE("masked keys on devices: in pages, with the bits of keys and values that are not") {
    const Context of_pages("cuda"); // whose kernels take pages on every device
    for (const int64_t dim : {64, 96, 128, 256})
        for (const int64_t rows : {3, 40})
            for (const float softcap : {0.0f, 30.0f})
                for (const double garbage : garbage_of(GYRE_BF16)) {
                    CausalCase c(rows, 90, dim, GYRE_BF16);
                    c.args.softcap = softcap;
                    put(c, {1, garbage, {89, 88 - rows / 2}});
                    const KeyPages pages(c, 16, {90});
                    const gyre_attention_args as_they_are = c.args;
                    each_device([&](gyre_context *context) {
                        REQUIRE_MESSAGE(c.run(of_pages) == GYRE_OK, text(gyre_last_error()));
                        const std::vector<double> expected = c.out.values();
                        c.args = pages.args();
                        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                        c.args = as_they_are;
                        const std::vector<double> out = c.out.values();
                        const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
                        CHECK(std::equal(out.begin(), out.end(), expected.begin(), same));
                    });
                }
}

TEST_CASE("weights on devices have no floor: a key far below the largest score adds nothing, and a sink far above "
          "takes all") {
    for (const int64_t rows : {3, 40}) {
        AttentionCase c(AttentionShape().lengths(rows, 70).dims(64).of(GYRE_BF16));
        Tensor bias(GYRE_F32, {70});
        bias.fill(0);
        for (int64_t j = 0; j < 70; j += 3) bias.set({j}, -1e4);
        c.args.bias = c.hold(std::move(bias));
        for (int64_t j = 0; j < 70; j += 3)
            for (int64_t d = 0; d < 64; d++) c.v.set({0, j, 0, d}, 1e25);
        c.check_on_devices();

        AttentionCase sink(AttentionShape().lengths(rows, 70).dims(64).of(GYRE_BF16));
        sink.args.sinks = sink.hold(GYRE_F32, {80});
        for (int64_t j = 0; j < 70; j++)
            for (int64_t d = 0; d < 64; d++) sink.v.set({0, j, 0, d}, 1e25);
        sink.check_on_devices();
    }
}
