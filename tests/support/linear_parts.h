/// A call of linear attention taken apart, in double: what both oracles of it sum up.
#pragma once
#include "oracle_linear.h"
#include "oracle_rotary.h"
#include "tensor.h"

#include <cmath>

namespace gyre::test::linear_parts {

inline double phi(double x) { return x > 0 ? x + 1 : std::exp(x); }
inline double slope(double x) { return x > 0 ? 1 : std::exp(x); }

inline double dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}
inline double magnitude_of_dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += std::fabs(a[i] * b[i]);
    return sum;
}

struct Span {
    int64_t entry, batch, q_begin, q_length, k_begin, k_length;
};

inline std::vector<Span> spans_of(const gyre_linear_attention_args &args, int64_t batch, int64_t queries,
                                  int64_t keys) {
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

inline OracleNumbers zeros(size_t count) { return {std::vector<double>(count), std::vector<double>(count)}; }
inline void add(OracleNumbers &to, size_t index, double value, double magnitude) {
    to.exact[index] += value;
    to.magnitude[index] += magnitude;
}
inline size_t index_of(const Dense &d, int64_t b, int64_t token, int64_t h) {
    return (size_t)(((b * d.seqlen + token) * d.heads + h) * d.dim);
}

/// One query's numerator and denominator.
struct Row {
    std::vector<double> numerator, magnitude;
    double denominator = 0;
};

inline Row row_of(const Parts &p, const Span &s, int64_t h, int64_t i) {
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

} // namespace gyre::test::linear_parts
