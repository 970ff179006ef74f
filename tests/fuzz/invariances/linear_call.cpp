#include "linear_call.h"
#include "call_memory.h"
#include "support/linear_allowance.h"

#include <algorithm>
#include <cmath>

namespace gyre::fuzz {

using test::Dense;

namespace {

gyre_linear_attention_args shapes_of(const Problem &p) {
    gyre_linear_attention_args a = gyre_linear_attention_defaults();
    const int64_t q[4] = {p.batch(), p.queries(), p.heads(), p.q.dim}, k[4] = {p.batch(), p.keys(), p.k.heads, p.k.dim};
    a.q = gyre_tensor_dense(nullptr, p.dtype, 4, q);
    a.k = gyre_tensor_dense(nullptr, p.dtype, 4, k);
    a.rope = p.rope ? &*p.rope : nullptr;
    return a;
}

std::vector<double> features(const double *x, int64_t dim) {
    std::vector<double> phi(x, x + dim);
    for (double &number : phi) number = number > 0 ? number + 1 : std::exp(number);
    return phi;
}

double dot(const std::vector<double> &a, const std::vector<double> &b) {
    double sum = 0;
    for (size_t d = 0; d < a.size(); d++) sum += a[d] * b[d];
    return sum;
}

/// Sums over the keys that a query sees.
struct KeySums {
    std::vector<double> features;
    double norms = 0;

    void add(const std::vector<double> &phi) {
        features.resize(phi.size());
        for (size_t d = 0; d < phi.size(); d++) features[d] += phi[d];
        norms += std::sqrt(dot(phi, phi));
    }
};

} // namespace

LinearResult run_linear(gyre_context *context, const Problem &p, bool causal, const LinearState *before,
                        const Presentation &as) {
    CallMemory memory(p, as);
    const std::vector<int64_t> q_lengths = std::vector<int64_t>((size_t)p.batch(), p.queries());
    const Dense like(p.batch(), p.queries(), p.heads(), p.v.dim);
    const std::vector<int64_t> of_kv{p.batch(), p.k.heads, p.k.dim, p.v.dim}, of_k{p.batch(), p.k.heads, p.k.dim};
    test::Tensor &out = memory.written(like, q_lengths);
    test::Tensor kv_after(GYRE_F32, of_kv), k_after(GYRE_F32, of_k);
    gyre_linear_attention_args a = gyre_linear_attention_defaults();
    a.layout = as.layout;
    a.causal = causal;
    a.q = memory.heads(p.q, q_lengths);
    a.k = memory.heads(p.k, p.k_length);
    a.v = memory.heads(p.v, p.k_length);
    a.out = out.view();
    const bool packed = as.layout == GYRE_THD;
    if (packed) a.cu_seqlens_q = memory.bounds(q_lengths);
    if (packed) a.cu_seqlens_k = memory.bounds(p.k_length);
    const std::vector<double> lengths(p.k_length.begin(), p.k_length.end());
    if (!packed && p.has_lengths()) a.seqused_k = memory.list(lengths, {p.batch()});
    a.rope = memory.rope(p.rope);
    if (p.rope) a.q_positions = memory.positions(p.q_positions, p.queries(), q_lengths);
    if (p.rope) a.k_positions = memory.positions(p.k_positions, p.keys(), p.k_length);
    if (before) a.kv_state = memory.list(before->kv, of_kv, GYRE_F32);
    if (before) a.k_state = memory.list(before->k, of_k, GYRE_F32);
    a.kv_state_out = memory.view(kv_after);
    a.k_state_out = memory.view(k_after);
    LinearResult r;
    const gyre_status status = gyre_linear_attention(context, &a);
    if (status != GYRE_OK) return r.wrong = std::string(gyre_status_string(status)) + ": " + gyre_last_error(), r;
    if (!memory.intact()) r.wrong = "memory beside the result was written";
    r.kernel = gyre_selected_kernel(context);
    r.out = memory.read(out, like, q_lengths);
    r.after = {kv_after.values(), k_after.values()};
    return r;
}

AllowedLinear allowed_linear(const Problem &p, bool causal, const LinearResult &r) {
    const double relative = test::linear_error(shapes_of(p));
    test::OracleNumbers out{r.out.data, {}}, kv{r.after.kv, {}}, k{r.after.k, r.after.k};
    out.magnitude.resize(out.exact.size());
    for (int64_t b = 0; b < p.batch(); b++)
        for (int64_t h = 0; h < p.k.heads; h++) {
            const int64_t length = p.k_length[(size_t)b], group = p.heads() / p.k.heads;
            double largest = 0;
            std::vector<KeySums> seen(1);
            for (int64_t j = 0; j < length; j++) {
                const double *v = p.v.data.data() + ((b * p.keys() + j) * p.v.heads + h) * p.v.dim;
                for (int64_t d = 0; d < p.v.dim; d++) largest = std::max(largest, std::fabs(v[d]));
                seen.push_back(seen.back());
                seen.back().add(features(p.k.data.data() + ((b * p.keys() + j) * p.k.heads + h) * p.k.dim, p.k.dim));
            }
            kv.magnitude.insert(kv.magnitude.end(), (size_t)(p.k.dim * p.v.dim), largest * seen.back().norms);
            for (int64_t i = 0; i < p.queries(); i++)
                for (int64_t n = h * group; n < (h + 1) * group; n++) {
                    const int64_t row = (b * p.queries() + i) * p.heads() + n;
                    const KeySums &keys = seen[(size_t)(causal ? std::min(i + 1, length) : length)];
                    if (keys.features.empty()) continue;
                    const std::vector<double> phi = features(p.q.data.data() + row * p.q.dim, p.q.dim);
                    const double size = largest * std::sqrt(dot(phi, phi)) * keys.norms / dot(phi, keys.features);
                    std::fill_n(out.magnitude.begin() + row * p.v.dim, p.v.dim, 2 * size);
                }
        }
    return {test::linear_allowance(out, p.dtype, relative),
            {test::linear_allowance(kv, GYRE_F32, relative), test::linear_allowance(k, GYRE_F32, relative)}};
}

} // namespace gyre::fuzz
