#include "score_probe.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace gyre::test {
namespace {

constexpr double lowest_that_counts = -1e37; // sums with gyre::masked, -1e38, or less are below it

/// An element of an input at [entry, head, index…], by NumPy's rule for what is left out in front, clamped at the ends.
double read(const gyre_tensor &t, int64_t entry, int64_t head, const std::vector<int64_t> &index) {
    std::vector<int64_t> full = {entry, head};
    full.insert(full.end(), index.begin(), index.end());
    const size_t dropped = full.size() - (size_t)t.rank;
    int64_t offset = 0;
    for (size_t i = dropped; i < full.size(); i++) {
        const int64_t extent = t.shape[i - dropped];
        const int64_t at = i < 2 && extent == 1 ? 0 : std::min(std::max<int64_t>(full[i], 0), extent - 1);
        offset += at * t.strides[i - dropped];
    }
    return read_element(t, offset);
}

} // namespace

OracleScore oracle_probe(const ScoreCase &c) {
    std::map<std::string, gyre_tensor> inputs;
    for (const gyre_score_input &input : c.inputs) inputs[input.name] = input.tensor;
    const bool packed = c.args.layout == GYRE_THD;
    std::vector<double> used, cu_q, cu_k;
    if (c.args.seqused_k) used = values_of(*c.args.seqused_k);
    if (packed) {
        cu_q = values_of(*c.args.cu_seqlens_q);
        cu_k = values_of(*c.args.cu_seqlens_k);
    }
    const AttentionShape shape = c.shape;
    return [=](const OraclePoint &p) {
        const auto entry = (size_t)p.entry;
        int64_t q_length = packed ? (int64_t)(cu_q[entry + 1] - cu_q[entry]) : shape.seqlen_q;
        int64_t k_length = packed ? (int64_t)(cu_k[entry + 1] - cu_k[entry]) : shape.seqlen_kv;
        if (!used.empty()) k_length = (int64_t)used[entry];
        const auto at = [&](const char *name, const std::vector<int64_t> &index) {
            return read(inputs.at(name), p.entry, p.head, index);
        };
        const int64_t q_position = p.j - p.ahead;
        const int64_t row = std::min(p.i + 1, q_length - 1), column = std::min(p.j + 1, k_length - 1);
        const double pair =
            read(inputs.at("pairs"), packed ? 0 : p.entry, p.head, {row + p.q_token - p.i, column + p.k_token - p.j});
        const double place = (double)(p.entry * 8 + p.head * 4 + (q_length - k_length) + p.i % 3 +
                                      inputs.at("line").shape[inputs.at("line").rank - 1]);
        const double score = p.score * at("factor", {}) +
                             at("line", {p.j - 2 * q_position + (int64_t)at("offset", {})}) + pair +
                             at("groups", {p.i % 5 - 1, p.j}) / 8 + place / 16;
        return score < lowest_that_counts ? -std::numeric_limits<double>::infinity() : score;
    };
}

void give_probe(ScoreCase &c, const ProbeInputs &given, uint64_t seed) {
    const auto fill = [&](const char *name, gyre_dtype type, std::vector<int64_t> shape,
                          const std::vector<int64_t> &own, int64_t lowest, int64_t highest) {
        shape.insert(shape.end(), own.begin(), own.end());
        Placement placement = Placement::with_gaps(given.gap);
        if (given.transposed && shape.size() > 1) {
            placement.order.resize(shape.size());
            for (size_t i = 0; i < shape.size(); i++) placement.order[i] = (int)(shape.size() - 1 - i);
        }
        Tensor tensor(type, shape, placement);
        if (type == GYRE_F32)
            tensor.fill_normal(seed++);
        else
            tensor.fill_uniform_integers(seed++, lowest, highest);
        c.give(name, std::move(tensor));
    };
    const int64_t lq = c.shape.seqlen_q, lk = c.shape.seqlen_kv;
    fill("pairs", GYRE_F32, given.pairs, {lq, lk}, 0, 0);
    fill("groups", GYRE_I32, given.groups, {3, 40}, -9, 9);
    fill("factor", GYRE_F32, given.factor, given.factor.empty() ? std::vector<int64_t>{1} : std::vector<int64_t>{}, 0,
         0);
    fill("line", GYRE_F32, given.line, {23}, 0, 0);
    fill("offset", GYRE_I32, given.offset, given.offset.empty() ? std::vector<int64_t>{1} : std::vector<int64_t>{}, -30,
         30);
    c.oracle_score = oracle_probe(c);
}

} // namespace gyre::test
