#include "linear_parts.h"

namespace gyre::test {
using namespace linear_parts;

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

} // namespace gyre::test
