#include "oracle_linear.h"
#include "oracle_rotary.h"
#include "tensor.h"

#include <cmath>

namespace gyre::test {
namespace {

double phi(double x) { return x > 0 ? x + 1 : std::exp(x); }
double slope(double x) { return x > 0 ? 1 : std::exp(x); }

double dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}
double magnitude_of_dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += std::fabs(a[i] * b[i]);
    return sum;
}

struct Span {
    int64_t entry, batch, q_begin, q_length, k_begin, k_length;
};

std::vector<Span> spans_of(const gyre_linear_attention_args &args, int64_t batch, int64_t queries, int64_t keys) {
    std::vector<Span> spans;
    const bool packed = args.layout == GYRE_THD;
    const int64_t count = packed ? args.cu_seqlens_q->shape[0] - 1 : batch;
    for (int64_t n = 0; n < count; n++) {
        Span s{n, n, 0, queries, 0, keys};
        if (packed) {
            const std::vector<double> q = values_of(*args.cu_seqlens_q), k = values_of(*args.cu_seqlens_k);
            const auto at = (size_t)n;
            s = {n, 0, (int64_t)q[at], (int64_t)(q[at + 1] - q[at]), (int64_t)k[at], (int64_t)(k[at + 1] - k[at])};
        }
        if (args.seqused_k) s.k_length = (int64_t)values_of(*args.seqused_k)[(size_t)n];
        spans.push_back(s);
    }
    return spans;
}

/// Features of every head, rotated and not, and bounds of what each rotated one was formed from.
struct Features {
    Dense x, plain, turned, bound;
    OracleRotation rotation;
    double factor = 1;

    Features(const gyre_tensor &view, const gyre_linear_attention_args &args, const gyre_tensor *positions,
             const std::vector<double> &fallback)
        : x(view, args.layout), plain(x), turned(x), bound(x) {
        if (args.rope)
            rotation = OracleRotation(*args.rope, x.dim, x.batch, x.seqlen,
                                      resolve_positions(positions, args.rope->axes, x.batch, x.seqlen, fallback), true);
        for (double &value : plain.data) value = phi(value);
        turned = plain;
        bound = plain;
        if (!args.rope) return;
        factor = std::fabs(args.rope->attention_factor);
        for (int64_t b = 0; b < x.batch; b++)
            for (int64_t token = 0; token < x.seqlen; token++)
                for (int64_t h = 0; h < x.heads; h++) {
                    rotation.apply(turned.head(b, token, h), b, token);
                    double *limit = bound.head(b, token, h);
                    for (int64_t pair = 0; pair < rotation.pairs(); pair++) {
                        double &left = limit[rotation.left(pair)], &right = limit[rotation.right(pair)];
                        left = right = (left + right) * factor;
                    }
                }
    }
};

/// A call taken apart.
struct Parts {
    const gyre_linear_attention_args &args;
    int64_t dim, v_dim, group, kv_heads;
    std::vector<Span> spans;
    Features q, k;
    Dense v;
    std::vector<double> kv_state, k_state; // before; empty: none

    static std::vector<double> defaults(const gyre_linear_attention_args &args, bool queries) {
        const Dense q(args.q, args.layout), k(args.k, args.layout);
        const Dense &side = queries ? q : k;
        std::vector<double> positions((size_t)(side.batch * side.seqlen));
        for (const Span &s : spans_of(args, q.batch, q.seqlen, k.seqlen)) {
            const int64_t shift = queries && !args.causal ? s.k_length - s.q_length : 0;
            const int64_t begin = queries ? s.q_begin : s.k_begin, length = queries ? s.q_length : s.k_length;
            for (int64_t i = 0; i < length; i++)
                positions[(size_t)(s.batch * side.seqlen + begin + i)] = (double)(i + shift);
        }
        return positions;
    }

    explicit Parts(const gyre_linear_attention_args &args)
        : args(args), q(args.q, args, args.q_positions, defaults(args, true)),
          k(args.k, args, args.k_positions, defaults(args, false)), v(args.v, args.layout) {
        dim = q.x.dim;
        v_dim = v.dim;
        kv_heads = k.x.heads;
        group = kv_heads ? q.x.heads / kv_heads : 0;
        spans = spans_of(args, q.x.batch, q.x.seqlen, k.x.seqlen);
        if (args.kv_state) {
            kv_state = values_of(*args.kv_state);
            k_state = values_of(*args.k_state);
        }
    }

    size_t state_index(const Span &s, int64_t kv_head) const { return (size_t)((s.entry * kv_heads + kv_head) * dim); }
    bool sees(int64_t i, int64_t j) const { return !args.causal || j <= i; }
};

OracleNumbers zeros(size_t count) { return {std::vector<double>(count), std::vector<double>(count)}; }
void add(OracleNumbers &to, size_t index, double value, double magnitude) {
    to.exact[index] += value;
    to.magnitude[index] += magnitude;
}
size_t index_of(const Dense &d, int64_t b, int64_t token, int64_t h) {
    return (size_t)(((b * d.seqlen + token) * d.heads + h) * d.dim);
}

/// One query's numerator and denominator.
struct Row {
    std::vector<double> numerator, magnitude;
    double denominator = 0;
};

Row row_of(const Parts &p, const Span &s, int64_t h, int64_t i) {
    Row row{std::vector<double>((size_t)p.v_dim), std::vector<double>((size_t)p.v_dim)};
    const int64_t kv_head = h / p.group, token = s.q_begin + i;
    const double *plain = p.q.plain.head(s.batch, token, h), *turned = p.q.turned.head(s.batch, token, h);
    const double *bound = p.q.bound.head(s.batch, token, h);
    for (int64_t j = 0; j < s.k_length; j++) {
        if (!p.sees(i, j)) continue;
        const int64_t key = s.k_begin + j;
        const double weight = dot(turned, p.k.turned.head(s.batch, key, kv_head), p.dim);
        const double largest = magnitude_of_dot(bound, p.k.bound.head(s.batch, key, kv_head), p.dim);
        row.denominator += dot(plain, p.k.plain.head(s.batch, key, kv_head), p.dim);
        for (int64_t e = 0; e < p.v_dim; e++) {
            const double value = p.v.head(s.batch, key, kv_head)[e];
            row.numerator[(size_t)e] += weight * value;
            row.magnitude[(size_t)e] += largest * std::fabs(value);
        }
    }
    if (p.kv_state.empty()) return row;
    const size_t state = p.state_index(s, kv_head);
    for (int64_t d = 0; d < p.dim; d++) {
        row.denominator += plain[d] * p.k_state[state + (size_t)d];
        for (int64_t e = 0; e < p.v_dim; e++) {
            const double value = p.kv_state[(state + (size_t)d) * (size_t)p.v_dim + (size_t)e];
            row.numerator[(size_t)e] += turned[d] * value;
            row.magnitude[(size_t)e] += std::fabs(bound[d] * value);
        }
    }
    return row;
}

} // namespace

OracleLinear oracle_linear(const gyre_linear_attention_args &args) {
    const Parts p(args);
    Dense out(p.q.x.batch, p.q.x.seqlen, p.q.x.heads, p.v_dim);
    const size_t states = p.spans.size() * (size_t)(p.kv_heads * p.dim);
    OracleLinear result{zeros(out.data.size()), zeros(states * (size_t)p.v_dim), zeros(states)};
    for (const Span &s : p.spans) {
        for (int64_t h = 0; h < p.q.x.heads; h++)
            for (int64_t i = 0; i < s.q_length; i++) {
                const Row row = row_of(p, s, h, i);
                const size_t first = index_of(out, s.batch, s.q_begin + i, h);
                for (size_t e = 0; row.denominator > 0 && e < (size_t)p.v_dim; e++)
                    add(result.out, first + e, row.numerator[e] / row.denominator, row.magnitude[e] / row.denominator);
            }
        for (int64_t h = 0; h < p.kv_heads; h++)
            for (int64_t d = 0; d < p.dim; d++) {
                const size_t at = p.state_index(s, h) + (size_t)d, first = at * (size_t)p.v_dim;
                if (!p.kv_state.empty()) {
                    add(result.k_state, at, p.k_state[at], std::fabs(p.k_state[at]));
                    for (size_t e = first; e < first + (size_t)p.v_dim; e++)
                        add(result.kv_state, e, p.kv_state[e], std::fabs(p.kv_state[e]));
                }
                for (int64_t j = 0; j < s.k_length; j++) {
                    const int64_t key = s.k_begin + j;
                    const double plain = p.k.plain.head(s.batch, key, h)[d];
                    add(result.k_state, at, plain, plain);
                    for (int64_t e = 0; e < p.v_dim; e++) {
                        const double value = p.v.head(s.batch, key, h)[e];
                        add(result.kv_state, first + (size_t)e, p.k.turned.head(s.batch, key, h)[d] * value,
                            p.k.bound.head(s.batch, key, h)[d] * std::fabs(value));
                    }
                }
            }
    }
    return result;
}

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
