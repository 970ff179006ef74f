#include "attention_calls.h"
#include "../valid/trial.h"
#include "relation.h"
#include "support/element.h"
#include "support/random.h"
#include "support/tensor.h"

#include <algorithm>
#include <cmath>

namespace gyre::fuzz {

using test::Dense;

namespace {

/// What sinks make of a result without them: rows that see no key stay as they are.
void add_sinks(const Problem &p, std::vector<double> *out, std::vector<double> *lse) {
    for (size_t row = 0; row < lse->size() && !p.sinks.empty(); row++) {
        const int64_t i = (int64_t)row % p.queries(), h = (int64_t)row / p.queries() % p.heads(),
                      b = (int64_t)row / p.queries() / p.heads();
        const double before = (*lse)[row], sink = p.sinks[(size_t)h], more = std::max(before, sink);
        if (std::isinf(before)) continue;
        (*lse)[row] = more + std::log(std::exp(before - more) + std::exp(sink - more));
        double *to = out->data() + ((b * p.queries() + i) * p.heads() + h) * p.v.dim;
        for (int64_t d = 0; d < p.v.dim; d++) to[d] *= std::exp(before - (*lse)[row]);
    }
}

} // namespace

AttentionResult call(gyre_context *context, const Problem &p, const Presentation &as) {
    relation_tally().calls++;
    return run(context, p, as);
}

std::string compare_results(const Problem &p, const AttentionResult &base, const Problem &other_p,
                            const AttentionResult &other, double roundings_of_score) {
    if (!other.wrong.empty()) return other.wrong;
    const Allowed a = allowed_of(p, base, roundings_of_score), b = allowed_of(other_p, other, roundings_of_score);
    const std::string wrong = compare("out", other.out.data, base.out.data, a.out, b.out, p.dtype);
    return wrong.empty() ? compare("lse", other.lse, base.lse, a.lse, b.lse, GYRE_F32) : wrong;
}

std::string split_keys(const TargetContexts &on, const Problem &p, const AttentionResult &base, uint16_t seed) {
    test::Random random(seed);
    Problem whole = p.with_positions();
    whole.sinks.clear();
    const int64_t parts = random.integer(2, 4);
    std::vector<int64_t> bounds{0, p.keys()};
    for (int64_t n = 1; n < parts; n++) bounds.push_back(random.integer(0, p.keys()));
    std::sort(bounds.begin(), bounds.end());
    const Dense &like = base.out;
    Dense outs(parts * p.batch(), like.seqlen, like.heads, like.dim);
    std::vector<double> lses;
    double lse_error = 0;
    Allowed allowed = allowed_of(p, base);
    for (int64_t n = 0; n < parts; n++) {
        const Problem part = whole.with_keys(bounds[(size_t)n], bounds[(size_t)n + 1]);
        const AttentionResult r = call(on.alone, part);
        if (!r.wrong.empty()) return r.wrong;
        std::copy(r.out.data.begin(), r.out.data.end(), outs.data.begin() + n * (int64_t)like.data.size());
        lses.insert(lses.end(), r.lse.begin(), r.lse.end());
        const Allowed of_part = allowed_of(part, r);
        for (size_t i = 0; i < of_part.out.size(); i++) allowed.out[i] += of_part.out[i];
        for (size_t i = 0; i < of_part.lse.size(); i++)
            if (std::isfinite(r.lse[i])) lse_error = std::max(lse_error, of_part.lse[i]);
    }
    test::Tensor part_out(p.dtype, {outs.batch, outs.seqlen, outs.heads, outs.dim});
    test::Tensor part_lse(GYRE_F32, {outs.batch, like.heads, like.seqlen});
    test::Tensor out(p.dtype, {like.batch, like.seqlen, like.heads, like.dim});
    test::Tensor lse(GYRE_F32, {like.batch, like.heads, like.seqlen});
    part_out.set_values(outs.data);
    part_lse.set_values(lses);
    gyre_attention_merge_args merge = gyre_attention_merge_defaults();
    merge.parts = (int32_t)parts;
    merge.part_out = part_out.view();
    merge.part_lse = part_lse.view();
    merge.part_out.shape[0] = merge.part_lse.shape[0] = p.batch();
    merge.part_out_stride = (int64_t)like.data.size();
    merge.part_lse_stride = (int64_t)base.lse.size();
    merge.out = out.view();
    const gyre_tensor lse_view = lse.view();
    merge.lse = &lse_view;
    if (gyre_attention_merge(on.several, &merge) != GYRE_OK) return gyre_last_error();
    const Dense most = largest_values(p);
    for (size_t i = 0; i < allowed.out.size(); i++)
        allowed.out[i] += (std::expm1(2 * lse_error) + 2e-6) * most.data[i] + test::rounding_of(p.dtype, most.data[i]);
    std::vector<double> of_lse(base.lse.size(), lse_error + 2e-6);
    for (size_t i = 0; i < of_lse.size(); i++) of_lse[i] += test::rounding_of(GYRE_F32, base.lse[i]);
    std::vector<double> merged = out.values(), merged_lse = lse.values();
    add_sinks(p, &merged, &merged_lse);
    const std::string wrong = find_difference("merged out", merged, base.out.data, allowed.out, p.dtype);
    return wrong.empty() ? compare("merged lse", merged_lse, base.lse, allowed.lse, of_lse, GYRE_F32) : wrong;
}

} // namespace gyre::fuzz
