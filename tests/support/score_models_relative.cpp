// Encodings whose tables are products of queries or keys with embeddings of relative positions.
#include "score_models.h"

#include <algorithm>
#include <cmath>

namespace gyre::test {
namespace {

double dot(const double *a, const double *b, int64_t count) {
    double sum = 0;
    for (int64_t d = 0; d < count; d++) sum += a[d] * b[d];
    return sum;
}

/// Vectors [count, heads, dim].
struct Vectors {
    int64_t count, heads, dim;
    std::vector<double> data;

    const double *at(int64_t n, int64_t h) const { return data.data() + (n * heads + h) * dim; }
};

/// weights [heads * dim, width] times embeddings [count, width].
Vectors project(const std::vector<double> &embeddings, const std::vector<double> &weights, int64_t width, int64_t heads,
                int64_t dim) {
    Vectors result{(int64_t)embeddings.size() / width, heads, dim, {}};
    for (int64_t n = 0; n < result.count; n++)
        for (int64_t row = 0; row < heads * dim; row++)
            result.data.push_back(dot(&embeddings[(size_t)(n * width)], &weights[(size_t)(row * width)], width));
    return result;
}

double scale_of(const ScoreCase &c) {
    return c.args.scale != 0 ? (double)c.args.scale : 1 / std::sqrt((double)c.shape.head_dim);
}

/// table[batch, h, token, n] = scale <rows (of query head h) + added_h, vectors_n>; as the headers' recipes say.
void give_products(ScoreCase &c, const char *name, const Dense &rows, const Vectors &vectors,
                   const std::vector<double> &added = {}) {
    const int64_t heads = c.shape.heads, group = heads / rows.heads, dim = rows.dim;
    std::vector<double> table;
    for (int64_t b = 0; b < rows.batch; b++)
        for (int64_t h = 0; h < heads; h++)
            for (int64_t token = 0; token < rows.seqlen; token++) {
                const double *head = rows.head(b, token, h / group);
                std::vector<double> row(head, head + dim);
                for (int64_t d = 0; d < dim && !added.empty(); d++) row[(size_t)d] += added[(size_t)(h * dim + d)];
                for (int64_t n = 0; n < vectors.count; n++)
                    table.push_back(scale_of(c) * dot(row.data(), vectors.at(n, h), dim));
            }
    c.give(name, GYRE_F32, c.token_shape({rows.seqlen, vectors.count}), table, Placement::with_gaps(3));
}

} // namespace

void prepare_shaw(ScoreCase &c, uint64_t seed) {
    const int64_t farthest = 12, dim = c.shape.head_dim, heads = c.shape.heads;
    const Vectors w{2 * farthest + 1, heads, dim, normal_numbers(seed, (2 * farthest + 1) * heads * dim, 0.3)};
    const Dense q(c.args.q, c.args.layout);
    give_products(c, "products", q, w);
    c.oracle_score = [=](const OraclePoint &p) {
        const int64_t r = std::min(std::max(p.ahead, -farthest), farthest);
        const int64_t b = q.batch == 1 ? 0 : p.entry;
        return p.score + p.scale * dot(q.head(b, p.q_token, p.head), w.at(r + farthest, p.head), dim);
    };
}

void prepare_transformer_xl(ScoreCase &c, uint64_t seed) {
    const int64_t distances = 90, width = 8, dim = c.shape.head_dim, heads = c.shape.heads;
    std::vector<double> sinusoids; // R_n
    for (int64_t n = 0; n < distances; n++)
        for (int64_t m = 0; m < width; m++) {
            const double angle = (double)n * std::pow(10000.0, -2.0 * (double)(m % (width / 2)) / (double)width);
            sinusoids.push_back(m < width / 2 ? std::sin(angle) : std::cos(angle));
        }
    const Vectors r = project(sinusoids, normal_numbers(seed, heads * dim * width, 0.3), width, heads, dim);
    const std::vector<double> u = normal_numbers(seed + 1, heads * dim), v = normal_numbers(seed + 2, heads * dim);
    const Dense q(c.args.q, c.args.layout), k(c.args.k, c.args.layout);
    const int64_t group = heads / k.heads;
    std::vector<double> content;
    for (int64_t b = 0; b < k.batch; b++)
        for (int64_t h = 0; h < heads; h++)
            for (int64_t token = 0; token < k.seqlen; token++)
                content.push_back(scale_of(c) * dot(&u[(size_t)(h * dim)], k.head(b, token, h / group), dim));
    c.give("content", GYRE_F32, c.token_shape({k.seqlen}), content);
    give_products(c, "position", q, r, v);
    c.oracle_score = [=](const OraclePoint &p) {
        const int64_t b = q.batch == 1 ? 0 : p.entry, n = std::min(std::max<int64_t>(-p.ahead, 0), distances - 1);
        const double *qi = q.head(b, p.q_token, p.head), *kj = k.head(b, p.k_token, p.head / group);
        const double *rn = r.at(n, p.head), *uh = &u[(size_t)(p.head * dim)], *vh = &v[(size_t)(p.head * dim)];
        return p.score + p.scale * (dot(qi, rn, dim) + dot(uh, kj, dim) + dot(vh, rn, dim));
    };
}

void prepare_deberta(ScoreCase &c, uint64_t seed) {
    const int64_t span = 10, width = 6, dim = c.shape.head_dim, heads = c.shape.heads;
    c.args.scale = (float)(1 / std::sqrt(3.0 * (double)dim));
    const std::vector<double> embeddings = normal_numbers(seed, 2 * span * width);
    const Vectors kr = project(embeddings, normal_numbers(seed + 1, heads * dim * width, 0.5), width, heads, dim);
    const Vectors qr = project(embeddings, normal_numbers(seed + 2, heads * dim * width, 0.5), width, heads, dim);
    const Dense q(c.args.q, c.args.layout), k(c.args.k, c.args.layout);
    const int64_t group = heads / k.heads;
    give_products(c, "c2p", q, kr);
    give_products(c, "p2c", k, qr);
    const auto delta = [=](int64_t a, int64_t b) { // of positions
        return a - b <= -span ? 0 : a - b >= span ? 2 * span - 1 : a - b + span;
    };
    c.oracle_score = [=](const OraclePoint &p) {
        const int64_t b = q.batch == 1 ? 0 : p.entry, pos_k = p.j, pos_q = p.j - p.ahead;
        const double *qi = q.head(b, p.q_token, p.head), *kj = k.head(b, p.k_token, p.head / group);
        return p.score + p.scale * (dot(qi, kr.at(delta(pos_q, pos_k), p.head), dim) +
                                    dot(kj, qr.at(delta(pos_k, pos_q), p.head), dim));
    };
}

} // namespace gyre::test
