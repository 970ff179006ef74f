#include "linear_parts.h"

namespace gyre::test {
using namespace linear_parts;
namespace {

/// A gradient with respect to rotated features becomes one with respect to features.
void rotate_back(OracleNumbers &gradient, const Features &f) {
    for (int64_t b = 0; b < f.x.batch; b++)
        for (int64_t token = 0; token < f.x.seqlen; token++)
            for (int64_t h = 0; h < f.x.heads; h++) {
                const size_t first = index_of(f.x, b, token, h);
                f.rotation.apply(gradient.exact.data() + first, b, token, true);
                double *limit = gradient.magnitude.data() + first;
                for (int64_t pair = 0; pair < f.rotation.pairs(); pair++) {
                    double &left = limit[f.rotation.left(pair)], &right = limit[f.rotation.right(pair)];
                    left = right = (left + right) * f.factor;
                }
            }
}

/// phi'(x) (turned + plain)
void finish(OracleNumbers &turned, const OracleNumbers &plain, const Features &f) {
    for (size_t n = 0; n < turned.exact.size(); n++) {
        if (turned.magnitude[n] + plain.magnitude[n] == 0) continue; // padding may hold NaN
        const double by = slope(f.x.data[n]);
        turned.exact[n] = by * (turned.exact[n] + plain.exact[n]);
        turned.magnitude[n] = by * (turned.magnitude[n] + plain.magnitude[n]);
    }
}

} // namespace

OracleLinearBackward oracle_linear_backward(const gyre_linear_attention_backward_args &backward) {
    const Parts p(*backward.forward);
    const Dense out_grad(backward.out_grad, p.args.layout);
    const size_t queries = p.q.x.data.size(), keys = p.k.x.data.size();
    const auto states = (int64_t)p.spans.size() * p.kv_heads * p.dim;
    OracleLinearBackward result{zeros(queries), zeros(keys), zeros(p.v.data.size()), zeros((size_t)(states * p.v_dim)),
                                zeros((size_t)states)};
    OracleNumbers q_plain = zeros(queries), k_plain = zeros(keys); // by way of denominators
    std::vector<double> kv_after((size_t)(states * p.v_dim)), k_after((size_t)states);
    if (backward.kv_state_out_grad) {
        kv_after = values_of(*backward.kv_state_out_grad);
        k_after = values_of(*backward.k_state_out_grad);
    }
    const auto dim = (size_t)p.dim, v_dim = (size_t)p.v_dim;
    const auto add_product = [](OracleNumbers &to, size_t index, double a, double b, double bound_a, double bound_b) {
        add(to, index, a * b, bound_a * bound_b);
    };

    for (const Span &s : p.spans) {
        for (int64_t h = 0; h < p.q.x.heads; h++)
            for (int64_t i = 0; i < s.q_length; i++) {
                const Row row = row_of(p, s, h, i);
                if (!(row.denominator > 0)) continue;
                const int64_t token = s.q_begin + i, kv_head = h / p.group;
                const size_t q_at = index_of(p.q.x, s.batch, token, h), state = p.state_index(s, kv_head);
                const double *turned = p.q.turned.head(s.batch, token, h), *plain = p.q.plain.head(s.batch, token, h);
                const double *bound = p.q.bound.head(s.batch, token, h);
                std::vector<double> n(out_grad.head(s.batch, token, h), out_grad.head(s.batch, token, h) + p.v_dim);
                double delta = 0, delta_bound = 0; // <do, o> / D
                for (size_t e = 0; e < v_dim; e++) {
                    n[e] /= row.denominator;
                    delta += n[e] * row.numerator[e] / row.denominator;
                    delta_bound += std::fabs(n[e]) * row.magnitude[e] / row.denominator;
                }
                for (int64_t j = 0; j < s.k_length; j++) {
                    if (!p.sees(i, j)) continue;
                    const int64_t key = s.k_begin + j;
                    const double *value = p.v.head(s.batch, key, kv_head);
                    const double *k_turned = p.k.turned.head(s.batch, key, kv_head);
                    const double *k_bound = p.k.bound.head(s.batch, key, kv_head);
                    const double *k_features = p.k.plain.head(s.batch, key, kv_head);
                    const size_t k_at = index_of(p.k.x, s.batch, key, kv_head);
                    const size_t v_at = index_of(p.v, s.batch, key, kv_head);
                    const double weight_grad = dot(n.data(), value, p.v_dim);
                    const double grad_bound = magnitude_of_dot(n.data(), value, p.v_dim);
                    const double weight = dot(turned, k_turned, p.dim);
                    const double weight_bound = magnitude_of_dot(bound, k_bound, p.dim);
                    for (size_t d = 0; d < dim; d++) {
                        add_product(result.q, q_at + d, weight_grad, k_turned[d], grad_bound, k_bound[d]);
                        add_product(result.k, k_at + d, weight_grad, turned[d], grad_bound, bound[d]);
                        add_product(q_plain, q_at + d, -delta, k_features[d], delta_bound, k_features[d]);
                        add_product(k_plain, k_at + d, -delta, plain[d], delta_bound, plain[d]);
                    }
                    for (size_t e = 0; e < v_dim; e++)
                        add_product(result.v, v_at + e, weight, n[e], weight_bound, std::fabs(n[e]));
                }
                for (size_t d = 0; d < dim; d++) {
                    add_product(result.k_state, state + d, -delta, plain[d], delta_bound, plain[d]);
                    if (!p.kv_state.empty())
                        add_product(q_plain, q_at + d, -delta, p.k_state[state + d], delta_bound,
                                    std::fabs(p.k_state[state + d]));
                    for (size_t e = 0; e < v_dim; e++) {
                        const size_t at = (state + d) * v_dim + e;
                        add_product(result.kv_state, at, turned[d], n[e], bound[d], std::fabs(n[e]));
                        if (!p.kv_state.empty())
                            add_product(result.q, q_at + d, p.kv_state[at], n[e], std::fabs(p.kv_state[at]),
                                        std::fabs(n[e]));
                    }
                }
            }
        for (int64_t h = 0; h < p.kv_heads; h++) {
            const size_t state = p.state_index(s, h);
            for (size_t d = 0; d < dim; d++) {
                add(result.k_state, state + d, k_after[state + d], std::fabs(k_after[state + d]));
                for (size_t e = 0; e < v_dim; e++) {
                    const size_t at = (state + d) * v_dim + e;
                    const double after = kv_after[at];
                    add(result.kv_state, at, after, std::fabs(after));
                    for (int64_t j = 0; j < s.k_length; j++) {
                        const int64_t key = s.k_begin + j;
                        const double value = p.v.head(s.batch, key, h)[e];
                        add_product(result.k, index_of(p.k.x, s.batch, key, h) + d, after, value, std::fabs(after),
                                    std::fabs(value));
                        add_product(result.v, index_of(p.v, s.batch, key, h) + e, after,
                                    p.k.turned.head(s.batch, key, h)[d], std::fabs(after),
                                    p.k.bound.head(s.batch, key, h)[d]);
                    }
                }
                for (int64_t j = 0; j < s.k_length; j++)
                    add(k_plain, index_of(p.k.x, s.batch, s.k_begin + j, h) + d, k_after[state + d],
                        std::fabs(k_after[state + d]));
            }
        }
    }
    rotate_back(result.q, p.q);
    rotate_back(result.k, p.k);
    finish(result.q, q_plain, p.q);
    finish(result.k, k_plain, p.k);
    return result;
}

} // namespace gyre::test
