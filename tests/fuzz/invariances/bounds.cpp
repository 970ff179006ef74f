#include "bounds.h"
#include "../valid/trial.h"
#include "support/attention_allowance.h"
#include "support/backward_allowance.h"
#include "support/element.h"

#include <algorithm>
#include <cmath>

namespace gyre::fuzz {

using test::Dense;

namespace {

/// A rotation may make a feature of a pair larger by this, and mixes what both are off by.
constexpr double of_rotation = 1.4142135623730951, of_pair = 2;

double norm(const double *x, int64_t dim) {
    double sum = 0;
    for (int64_t d = 0; d < dim; d++) sum += x[d] * x[d];
    return std::sqrt(sum);
}

double largest(const double *x, int64_t dim) {
    double most = 0;
    for (int64_t d = 0; d < dim; d++) most = std::max(most, std::fabs(x[d]));
    return most;
}

/// The largest norm of the rows of a key head that exist.
double largest_norm(const Problem &p, const Dense &x, int64_t b, int64_t h) {
    double most = 0;
    for (int64_t j = 0; j < p.k_length[(size_t)b]; j++)
        most = std::max(most, norm(x.data.data() + ((b * x.seqlen + j) * x.heads + h) * x.dim, x.dim));
    return most;
}

double largest_term(const std::vector<double> &terms) {
    double most = 0;
    for (const double term : terms)
        if (std::isfinite(term)) most = std::max(most, std::fabs(term));
    return most;
}

/// What the scores of a row are added up from, at most.
test::ScoreSize size_of_scores(const Problem &p, int64_t b, int64_t i, int64_t h, double key_norm) {
    const double *q = p.q.data.data() + ((b * p.queries() + i) * p.heads() + h) * p.q.dim;
    test::ScoreSize size;
    size.sum = std::fabs(p.scale()) * norm(q, p.q.dim) * key_norm + largest_term(p.bias);
    if (!p.alibi.empty()) size.sum += std::fabs(p.alibi[(size_t)h]) * (double)(p.queries() + p.keys());
    if (!p.sinks.empty()) size.sum += std::fabs(p.sinks[(size_t)h]);
    size.norm = std::fabs(p.scale()) * of_rotation * largest(q, p.q.dim) * key_norm;
    return size;
}

/// The arguments that allowances read.
gyre_attention_args arguments_of(const Problem &p) {
    gyre_attention_args a = p.options;
    a.out.dtype = p.dtype;
    a.rope = p.rope ? &*p.rope : nullptr;
    a.value_rope = p.value_rope ? &*p.value_rope : nullptr;
    return a;
}

/// A gradient whose elements are all added up from the same.
test::OracleGradient gradient_of(const Dense &exact, std::vector<double> by_weight, double score, double delta,
                                 double operands, double rows) {
    test::OracleGradient g{exact, exact, exact, exact, exact, exact};
    g.by_weight.data = by_weight;
    for (size_t n = 0; n < by_weight.size(); n++) {
        g.by_score.data[n] = score * by_weight[n];
        g.by_delta.data[n] = delta * by_weight[n];
        g.by_operands.data[n] = operands * by_weight[n];
        g.by_rows.data[n] = rows * by_weight[n];
    }
    return g;
}

} // namespace

Dense largest_values(const Problem &p) {
    Dense result(p.batch(), p.queries(), p.heads(), p.v.dim);
    const int64_t group = p.heads() / p.v.heads;
    for (int64_t b = 0; b < p.batch(); b++)
        for (int64_t h = 0; h < p.heads(); h++) {
            std::vector<double> most((size_t)p.v.dim);
            for (int64_t j = 0; j < p.k_length[(size_t)b]; j++)
                for (int64_t d = 0; d < p.v.dim; d++)
                    most[(size_t)d] = std::max(most[(size_t)d], std::fabs(p.v.head(b, j, h / group)[d]));
            if (p.value_rope) most.assign(most.size(), of_pair * of_rotation * largest(most.data(), p.v.dim));
            for (int64_t i = 0; i < p.queries(); i++) std::copy(most.begin(), most.end(), result.head(b, i, h));
        }
    return result;
}

Allowed allowed_of(const Problem &p, const AttentionResult &r, double roundings_of_score) {
    test::OracleAttention bound;
    bound.out = r.out;
    bound.lse = r.lse;
    bound.magnitude = bound.square = bound.visible = largest_values(p);
    for (double &number : bound.square.data) number *= number;
    for (double &number : bound.visible.data) number *= (double)p.keys();
    for (int64_t b = 0; b < p.batch(); b++)
        for (int64_t h = 0; h < p.heads(); h++) {
            const double key_norm = largest_norm(p, p.k, b, h / (p.heads() / p.k.heads));
            for (int64_t i = 0; i < p.queries(); i++) {
                bound.score_size.push_back(size_of_scores(p, b, i, h, key_norm));
                bound.keys.push_back((double)p.keys());
            }
        }
    test::Arithmetic arithmetic;
    arithmetic.roundings_of_score = roundings_of_score;
    const test::AttentionAllowance allowed = test::attention_allowance(bound, arguments_of(p), r.rounding, arithmetic);
    return {allowed.out, allowed.lse};
}

AllowedGradients allowed_gradients(const Problem &p, const Gradients &g, const Dense &out_grad,
                                   const Dense &columns_of_keys, const Dense &columns_of_values) {
    const double scale = 2 * std::fabs(p.scale()), root = std::sqrt((double)p.v.dim);
    double score = 0, value_norm = 0, key_size = 0;
    for (int64_t b = 0; b < p.batch(); b++)
        for (int64_t h = 0; h < p.heads(); h++) {
            const int64_t kv = h / (p.heads() / p.k.heads);
            const double key_norm = largest_norm(p, p.k, b, kv);
            value_norm = std::max(value_norm, largest_norm(p, p.v, b, kv));
            for (int64_t i = 0; i < p.queries(); i++) score = std::max(score, size_of_scores(p, b, i, h, key_norm).sum);
        }
    for (int64_t b = 0; b < p.batch(); b++)
        for (int64_t j = 0; j < p.k_length[(size_t)b]; j++)
            key_size = std::max(
                key_size, largest(p.k.data.data() + (b * p.keys() + j) * p.k.heads * p.k.dim, p.k.heads * p.k.dim));
    double rounding = 0; // of the stored result, which delta is formed from
    for (const double number : g.out.data) rounding = std::max(rounding, test::rounding_of(p.dtype, number));
    const double rotated = p.rope ? of_pair * of_rotation : 1, delta = root * rounding / std::max(value_norm, 1e-30);

    std::vector<double> of_q(g.q.data.size()), of_k(g.k.data.size()), of_v(g.v.data.size());
    for (size_t n = 0; n < of_q.size(); n++) {
        const double *row = out_grad.data.data() + n / (size_t)p.q.dim * (size_t)p.v.dim;
        of_q[n] = rotated * scale * norm(row, p.v.dim) * value_norm * key_size;
    }
    for (size_t n = 0; n < of_k.size(); n++)
        of_k[n] = rotated * scale * value_norm * columns_of_keys.data[n / (size_t)p.k.dim * (size_t)p.v.dim];
    for (size_t n = 0; n < of_v.size(); n++)
        of_v[n] = (p.value_rope ? of_pair : 1) * columns_of_values.data[n / (size_t)p.v.dim * (size_t)p.v.dim];
    const test::BackwardErrors errors = test::backward_errors(g.forward_kernel, arguments_of(p), g.kernel);
    return {test::gradient_allowance(gradient_of(g.q, of_q, score, delta, 2, 1), errors, p.dtype),
            test::gradient_allowance(gradient_of(g.k, of_k, score, delta, 2, 1), errors, p.dtype),
            test::gradient_allowance(gradient_of(g.v, of_v, score, 0, 0, 0), errors, p.dtype)};
}

std::string compare(const char *name, const std::vector<double> &got, const std::vector<double> &expected,
                    std::vector<double> allowed, const std::vector<double> &also_allowed, gyre_dtype dtype) {
    for (size_t n = 0; n < allowed.size(); n++) allowed[n] += also_allowed[n];
    return find_difference(name, got, expected, allowed, dtype);
}

} // namespace gyre::fuzz
