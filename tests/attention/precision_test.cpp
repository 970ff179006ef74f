/// Errors of gyre_attention() in bf16 beside those of the usual way of rounding: weights relative to the row's largest score are
/// rounded to bf16, their sum is not, and neither are scores; the result is stored in bf16. PyTorch's attention on CPUs rounds so.
#include "support/attention_case.h"
#include "support/compare.h"
#include "support/each_kernel.h"
#include "support/element.h"
#include "support/kernel_facts.h"

#include <cmath>

using namespace gyre::test;

namespace {

/// Attention of one head, in double but for the roundings of the usual way if there are any.
Dense attend(const AttentionCase &c, bool with_roundings) {
    const int64_t rows = c.shape.seqlen_q, keys = c.shape.seqlen_kv, dim = c.shape.head_dim;
    const double scale = 1 / std::sqrt((double)dim);
    const std::vector<double> q = c.q.values(), k = c.k.values(), v = c.v.values();
    const auto round = [&](double x) { return with_roundings ? rounded(GYRE_BF16, x) : x; };
    Dense out(1, rows, 1, dim);
    std::vector<double> scores((size_t)keys);
    for (int64_t i = 0; i < rows; i++) {
        double top = -1e300, sum = 0;
        for (int64_t j = 0; j < keys; j++) {
            double s = 0;
            for (int64_t d = 0; d < dim; d++) s += q[(size_t)(i * dim + d)] * k[(size_t)(j * dim + d)];
            scores[(size_t)j] = s * scale;
            top = std::max(top, s * scale);
        }
        for (const double score : scores) sum += std::exp(score - top);
        for (int64_t j = 0; j < keys; j++) {
            const double weight = round(std::exp(scores[(size_t)j] - top));
            for (int64_t d = 0; d < dim; d++) out.head(0, i, 0)[d] += weight * v[(size_t)(j * dim + d)];
        }
        for (int64_t d = 0; d < dim; d++) out.head(0, i, 0)[d] = round(out.head(0, i, 0)[d] / sum);
    }
    return out;
}

double rms_difference(const std::vector<double> &a, const std::vector<double> &b) {
    double sum = 0;
    for (size_t n = 0; n < a.size(); n++) sum += (a[n] - b[n]) * (a[n] - b[n]);
    return std::sqrt(sum / (double)a.size());
}

/// The share of the differences between weighted and plain means of the values that the output has.
double response(const AttentionCase &c, const Dense &got, const Dense &exact) {
    const int64_t keys = c.shape.seqlen_kv, dim = c.shape.head_dim;
    double product = 0, square = 0;
    for (int64_t d = 0; d < dim; d++) {
        double mean = 0;
        for (int64_t j = 0; j < keys; j++) mean += c.v.get({0, j, 0, d}) / (double)keys;
        for (int64_t i = 0; i < c.shape.seqlen_q; i++) {
            const double expected = exact.head(0, i, 0)[d] - mean;
            product += expected * (got.head(0, i, 0)[d] - mean);
            square += expected * expected;
        }
    }
    return product / square;
}

struct PrecisionCase : AttentionCase {
    PrecisionCase(int64_t head_dim, double deviation, bool with_lse)
        : AttentionCase(AttentionShape().lengths(384, 1024).dims(head_dim).of(GYRE_BF16), 5) {
        q.fill_normal(1000, deviation); // of no other tensor
        if (!with_lse) args.lse = nullptr;
    }
};

} // namespace

// Without lse, tiles take powers of two of small scores in fixed point (generators/passes/instructions/exp2_pairs.h), which adds a thirtieth to
// errors of weights; and which weights of a row are rounded well depends on where powers of two are.
TEST_CASE("precision: bf16 outputs are as good as those of the usual way of rounding") {
    for (const int64_t head_dim : {64, 72, 128})
        for (const double deviation : {0.05, 0.3, 1.0, 8.0})
            for (const bool with_lse : {true, false}) {
                PrecisionCase c(head_dim, deviation, with_lse);
                const Dense exact = attend(c, false);
                const double usual = rms_difference(attend(c, true).data, exact.data);
                CAPTURE(head_dim);
                CAPTURE(deviation);
                CAPTURE(with_lse);
                each_target([&](gyre_context *context) {
                    REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                    CAPTURE(text(gyre_selected_kernel(context)));
                    const double ratio = rms_difference(c.output().data, exact.data) / usual;
                    const bool fixed_point = !with_lse && !fact_of(gyre_selected_kernel(context), "bounded").empty();
                    CHECK(ratio < (fixed_point ? 1.07 : 1.01));
                });
            }
}

TEST_CASE("precision: nearly uniform weights in bf16 answer to small scores") {
    for (const double deviation : {0.003, 0.01, 0.03})
        for (const bool with_lse : {true, false}) {
            PrecisionCase c(64, deviation, with_lse);
            const Dense exact = attend(c, false);
            const double usual = response(c, attend(c, true), exact);
            CAPTURE(deviation);
            CAPTURE(with_lse);
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                CAPTURE(text(gyre_selected_kernel(context)));
                const double got = response(c, c.output(), exact);
                CHECK(std::fabs(got - 1) < std::fabs(usual - 1) + 0.025);
            });
        }
}

// A score is one product and its multiple of log2(e): of 2 it is off by 1.2e-7, a power of two by 1.6e-7, and a sum, its inverse
// and a product by 6e-8 each.
TEST_CASE("precision: weights of two keys and their denominators, in f32, for scores all over two octaves") {
    for (const int64_t rows : {2, 40})
        for (int part = 0; part < (rows == 2 ? 20 : 1); part++) {
            AttentionCase c(AttentionShape().lengths(rows, 2).dims(64));
            c.args.scale = 1;
            c.q.fill(0);
            c.k.fill(0);
            c.k.set({0, 1, 0, 0}, 1);
            for (int64_t d = 0; d < 64; d++) {
                c.v.set({0, 0, 0, d}, 0);
                c.v.set({0, 1, 0, d}, 1);
            }
            std::vector<double> scores;
            for (int64_t i = 0; i < rows; i++) {
                scores.push_back((float)(-2.0 * (double)(part * rows + i) / 40));
                c.q.set({0, i, 0, 0}, scores.back());
            }
            each_target([&](gyre_context *context) {
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                CAPTURE(text(gyre_selected_kernel(context)));
                for (int64_t i = 0; i < rows; i++) {
                    const double power = std::exp(scores[(size_t)i]), sum = 1 + power;
                    CAPTURE(scores[(size_t)i]);
                    CHECK(std::fabs(c.out.get({0, i, 0, 5}) * sum / power - 1) < 5e-7);
                    CHECK(std::fabs(c.lse.get({0, 0, i}) - std::log(sum)) < 5e-7);
                }
            });
        }
}
