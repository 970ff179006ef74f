#include "masked_garbage.h"

#include "compare.h"
#include "each_kernel.h"
#include "kernel_facts.h"

#include <cmath>
#include <limits>
#include <string>

namespace gyre::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Kernels that bound scores choose their arithmetic by norms of all keys, which moves results within the rounding of
/// weights to bf16.
bool bounds_scores(const std::string &kernel) { return !fact_of(kernel, "bounded").empty(); }

} // namespace

std::vector<double> garbage_of(gyre_dtype type) {
    const double large = type == GYRE_F16 ? 6e4 : 1e38;
    return {std::nan(""), infinity, -infinity, large, -large};
}

void put(AttentionCase &c, const Garbage &garbage) {
    for (const int64_t j : garbage.keys)
        for (int64_t h = 0; h < c.shape.kv_heads; h++) {
            for (int64_t d = 0; d < c.shape.head_dim; d++) c.k.set({0, j, h, d}, garbage.key);
            for (int64_t d = 0; d < c.shape.v_head_dim; d++) c.v.set({0, j, h, d}, garbage.value);
        }
}

RowSees in_causal_window(const AttentionCase &c) {
    return [first = c.shape.seqlen_kv - c.shape.seqlen_q, window = c.args.window_left](int64_t i, int64_t j) {
        return j <= first + i && j >= first + i - window;
    };
}

void check_garbage(AttentionCase &c, const RowSees &sees, const std::vector<int64_t> &keys, bool on_devices) {
    const std::vector<double> k = c.k.values(), v = c.v.values();
    const auto check = [&](gyre_context *context) {
        c.k.set_values(k);
        c.v.set_values(v);
        REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
        CAPTURE(text(gyre_selected_kernel(context)));
        const bool bounded = bounds_scores(gyre_selected_kernel(context));
        const auto same = [&](double got, double clean) {
            return got == clean || (bounded && std::fabs(got - clean) <= 1.0 / 64);
        };
        const Dense clean = c.output();
        const std::vector<double> clean_lse = c.lse.values();
        const std::vector<double> garbage = garbage_of(c.shape.dtype);
        for (size_t key = 0; key < garbage.size(); key++)
            for (size_t value = 0; value < garbage.size(); value++) {
                // Emulated devices are slow: each with itself, and with one other.
                if (on_devices && key != value && key != (value + 1) % garbage.size()) continue;
                const double of_key = garbage[key], of_value = garbage[value];
                CAPTURE(of_key);
                CAPTURE(of_value);
                put(c, {of_key, of_value, keys});
                REQUIRE_MESSAGE(c.run(context) == GYRE_OK, text(gyre_last_error()));
                const Dense out = c.output();
                const std::vector<double> lse = c.lse.values();
                int64_t changed = 0, hidden = 0;
                for (int64_t i = 0; i < c.shape.seqlen_q; i++)
                    for (int64_t h = 0; h < c.shape.heads; h++) {
                        bool reached = false;
                        for (const int64_t j : keys) reached = reached || sees(i, j);
                        const auto row = (size_t)(h * c.shape.seqlen_q + i);
                        for (int64_t d = 0; d < c.shape.v_head_dim; d++) {
                            const double got = out.head(0, i, h)[d];
                            if (!reached) changed += !same(got, clean.head(0, i, h)[d]);
                            if (reached && (std::isnan(of_key) || std::isnan(of_value))) hidden += !std::isnan(got);
                            if (reached && std::isinf(of_value)) hidden += std::isfinite(got);
                        }
                        if (!reached) changed += !same(lse[row], clean_lse[row]);
                        if (reached && std::isnan(of_key)) hidden += !std::isnan(lse[row]);
                    }
                CHECK(changed == 0);
                CHECK(hidden == 0);
            }
    };
    if (on_devices)
        each_device(check);
    else
        each_target(check);
    c.k.set_values(k);
    c.v.set_values(v);
}

} // namespace gyre::test
