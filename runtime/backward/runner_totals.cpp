// Rows of large scores after a forward pass that multiplied numbers as sums of shorter ones: its scores, of which lse is, are rounded
// otherwise than those here, by more than lse is. What the weights of such a row come to is found first, by the scores that gradients are
// formed of, and divides all that the row adds to gradients.
#include "backward/runner.h"

#include <algorithm>
#include <cmath>

namespace gyre {
namespace {

constexpr float large = 24;   // of lse, in units of log2(e)
constexpr float none = 1e29F; // no lse is as large: of rows that see no key (delta_algorithm.cpp)

/// How far from 1 roundings of scores may move what a row's weights come to: about three deviations. Less than 1 by more is a row whose
/// lse is also of keys that this call does not have.
float of_roundings(float power) { return 0x1p-22F * std::fabs(power); }

bool is_large(float power) { return std::fabs(power) > large && std::fabs(power) < none; }

} // namespace

bool BackwardRunner::has_large_scores(int64_t g, int64_t first_row) const {
    const float *const first = m.power + g * z.rows + first_row;
    return std::any_of(first, first + std::min(blocks().rows, s.q_len - first_row), is_large);
}

bool BackwardRunner::add_totals(int64_t g, int64_t first_row, int64_t first_key) const {
    const BlockKernel &b = *task.kernels.totals;
    const BlockSight seen = sight(first_row, first_key);
    if (seen.nothing) return true;
    const int64_t row = g * z.rows + first_row;
    const BlockViews views{b, z};
    Buffer totals = views.numbers(m.totals + row);
    BlockArguments shared(views, m, row, c.q.dim, 0); // with ALiBi the forward pass splits no numbers
    using A = BackwardArguments;
    KernelArguments<A> arguments(b.places);
    shared.add_to(&arguments, seen, c);
    arguments[A::row_totals] = &totals;
    Slab slab(m.scratch, b.workspace);
    return arguments.call(*b.kernel, slab);
}

void BackwardRunner::normalize_row(int64_t row) const {
    const float power = m.power[row], total = m.totals[row];
    if (!is_large(power) || !(std::fabs(total - 1) <= of_roundings(power))) return;
    const float share = 1 / total;
    m.delta[row] *= share;
    float *const grad = m.out_grad + row * z.stride;
    for (int64_t d = 0; d < z.features; d++) grad[d] *= share;
}

bool BackwardRunner::normalize_rows() const {
    bool any = false;
    for (int64_t g = 0; g < z.group; g++) {
        std::fill_n(m.totals + g * z.rows, z.rows, 0.0F);
        for (int64_t row = 0; row < s.q_len; row += blocks().rows) any = any || has_large_scores(g, row);
    }
    for (int64_t first = 0; any && first < s.k_len; first += z.keys) {
        if (!load_keys(first) || !form_panels(m.k, std::min(z.keys, s.k_len - first), m.k_panels)) return false;
        for (int64_t g = 0; g < z.group; g++)
            for (int64_t row = 0; row < s.q_len; row += blocks().rows)
                if (has_large_scores(g, row) && !add_totals(g, row, first)) return false;
    }
    for (int64_t g = 0; any && g < z.group; g++)
        for (int64_t row = 0; row < s.q_len; row++) normalize_row(g * z.rows + row);
    return true;
}

} // namespace gyre
