#include "problem.h"
#include "support/random.h"

#include <algorithm>
#include <cmath>

namespace gyre::fuzz {

using test::Dense;

Dense tokens_of(const Dense &x, int64_t from, int64_t to) {
    Dense part(x.batch, to - from, x.heads, x.dim);
    for (int64_t b = 0; b < x.batch; b++)
        std::copy_n(x.data.data() + (b * x.seqlen + from) * x.heads * x.dim, (to - from) * x.heads * x.dim,
                    part.data.data() + b * (to - from) * x.heads * x.dim);
    return part;
}

Dense entry_of(const Dense &x, int64_t b) {
    Dense entry(1, x.seqlen, x.heads, x.dim);
    std::copy_n(x.data.data() + b * (int64_t)entry.data.size(), entry.data.size(), entry.data.data());
    return entry;
}

Dense scaled(Dense x, double factor) {
    for (double &number : x.data) number *= factor;
    return x;
}

namespace {

/// Rows `from` .. `to` - 1 of the second dimension of [batch, rows, width].
std::vector<double> rows_of(const std::vector<double> &x, int64_t batch, int64_t rows, int64_t width, int64_t from,
                            int64_t to) {
    std::vector<double> part;
    for (int64_t b = 0; b < batch && !x.empty(); b++)
        part.insert(part.end(), x.begin() + (b * rows + from) * width, x.begin() + (b * rows + to) * width);
    return part;
}

/// Element order[b][j] of [batch, rows, keys] at j.
void reorder(std::vector<double> *x, int64_t rows, const std::vector<std::vector<int64_t>> &order) {
    if (x->empty()) return;
    const std::vector<double> before = *x;
    for (size_t b = 0; b < order.size(); b++)
        for (int64_t row = 0; row < rows; row++) {
            const size_t first = (b * (size_t)rows + (size_t)row) * order[b].size();
            for (size_t j = 0; j < order[b].size(); j++) (*x)[first + j] = before[first + (size_t)order[b][j]];
        }
}

} // namespace

bool Problem::has_lengths() const {
    return std::any_of(k_length.begin(), k_length.end(), [&](int64_t length) { return length != keys(); });
}

double Problem::scale() const { return options.scale != 0 ? options.scale : 1 / std::sqrt((double)q.dim); }

std::string Problem::text() const {
    std::string t = "dtype " + std::to_string(dtype) + " batch " + std::to_string(batch()) + " queries " +
                    std::to_string(queries()) + " keys " + std::to_string(keys()) + " heads " +
                    std::to_string(heads()) + ":" + std::to_string(k.heads) + " dims " + std::to_string(q.dim) + ", " +
                    std::to_string(v.dim) + " scale " + std::to_string(scale());
    const auto has = [&](bool there, const char *name) { t += there ? std::string(" ") + name : ""; };
    has(has_lengths(), "lengths");
    has(!mask.empty(), "mask");
    has(!bias.empty(), "bias");
    has(!sinks.empty(), "sinks");
    has(!alibi.empty(), "alibi");
    has(options.softcap > 0, "softcap");
    has(rope.has_value(), "rope");
    has(value_rope.has_value(), "value_rope");
    has(options.causal, "causal");
    has(options.window_left >= 0, "window_left");
    has(options.window_right >= 0, "window_right");
    return t + "\n";
}

Problem Problem::with_positions() const {
    Problem p = *this;
    if (!rope && !value_rope) return p;
    for (int64_t b = 0; b < batch() && q_positions.empty(); b++)
        for (int64_t i = 0; i < queries(); i++) p.q_positions.push_back((double)(k_length[(size_t)b] - queries() + i));
    for (int64_t b = 0; b < batch() && k_positions.empty(); b++)
        for (int64_t j = 0; j < keys(); j++) p.k_positions.push_back((double)j);
    return p;
}

Problem Problem::with_entry(int64_t b) const {
    Problem p = *this;
    p.q = entry_of(q, b);
    p.k = entry_of(k, b);
    p.v = entry_of(v, b);
    p.k_length = {k_length[(size_t)b]};
    p.q_positions = rows_of(q_positions, 1, batch(), queries(), b, b + 1);
    p.k_positions = rows_of(k_positions, 1, batch(), keys(), b, b + 1);
    p.mask = rows_of(mask, 1, batch(), queries() * keys(), b, b + 1);
    p.bias = rows_of(bias, 1, batch(), queries() * keys(), b, b + 1);
    return p;
}

Problem Problem::with_keys(int64_t from, int64_t to) const {
    Problem p = *this;
    p.k = tokens_of(k, from, to);
    p.v = tokens_of(v, from, to);
    for (int64_t &length : p.k_length) length = std::clamp<int64_t>(length - from, 0, to - from);
    p.k_positions = rows_of(k_positions, batch(), keys(), 1, from, to);
    p.mask = rows_of(mask, batch() * queries(), keys(), 1, from, to);
    p.bias = rows_of(bias, batch() * queries(), keys(), 1, from, to);
    return p;
}

Problem Problem::with_queries(int64_t from, int64_t to) const {
    Problem p = *this;
    p.q = tokens_of(q, from, to);
    p.q_positions = rows_of(q_positions, batch(), queries(), 1, from, to);
    p.mask = rows_of(mask, batch(), queries(), keys(), from, to);
    p.bias = rows_of(bias, batch(), queries(), keys(), from, to);
    return p;
}

Problem Problem::with_order(const std::vector<std::vector<int64_t>> &order) const {
    Problem p = *this;
    for (int64_t b = 0; b < batch(); b++)
        for (int64_t j = 0; j < keys(); j++)
            for (int64_t h = 0; h < k.heads; h++) {
                const int64_t from = order[(size_t)b][(size_t)j];
                std::copy_n(k.head(b, from, h), k.dim, p.k.head(b, j, h));
                std::copy_n(v.head(b, from, h), v.dim, p.v.head(b, j, h));
            }
    reorder(&p.k_positions, 1, order);
    reorder(&p.mask, queries(), order);
    reorder(&p.bias, queries(), order);
    return p;
}

Problem Problem::with_room(int64_t room, double garbage) const {
    Problem p = *this;
    const auto widen = [&](std::vector<double> *x, int64_t rows, int64_t width, double filler) {
        std::vector<double> wide;
        for (int64_t row = 0; row < rows && !x->empty(); row++) {
            wide.insert(wide.end(), x->begin() + row * width, x->begin() + (row + 1) * width);
            wide.insert(wide.end(), (size_t)((room - keys()) * (width / keys())), filler);
        }
        *x = wide;
    };
    widen(&p.k.data, batch(), keys() * k.heads * k.dim, garbage);
    widen(&p.v.data, batch(), keys() * v.heads * v.dim, garbage);
    widen(&p.k_positions, batch(), keys(), 0);
    widen(&p.mask, batch() * queries(), keys(), 1);
    widen(&p.bias, batch() * queries(), keys(), garbage);
    p.k.seqlen = p.v.seqlen = room;
    return p;
}

Problem Problem::with_own_heads() const {
    Problem p = *this;
    p.k = Dense(batch(), keys(), heads(), k.dim);
    p.v = Dense(batch(), keys(), heads(), v.dim);
    for (int64_t b = 0; b < batch(); b++)
        for (int64_t j = 0; j < keys(); j++)
            for (int64_t h = 0; h < heads(); h++) {
                const int64_t from = h / (heads() / k.heads);
                std::copy_n(k.head(b, j, from), k.dim, p.k.head(b, j, h));
                std::copy_n(v.head(b, j, from), v.dim, p.v.head(b, j, h));
            }
    return p;
}

} // namespace gyre::fuzz
