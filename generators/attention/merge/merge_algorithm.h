/// Merges attention over disjoint sets of keys: WHAT is computed. No scheduling call may appear here.
///
///     lse = log (exp(sink) + sum_p exp(lse_p))          out = sum_p exp(lse_p - lse) out_p
///
/// out_p and lse_p are what attention gave for part p of the keys (the split-k step of Flash-Decoding; Dao et al. 2023).
///
/// Index order is Halide's, innermost first.   d: feature;  h: head;  i: token;  p: part. Where one call takes all batch
/// entries, these are a dimension of everything: `outer`, after i and before p.
#pragma once
#include <Halide.h>

#include <limits>

namespace gyre::merge {

/// The most tokens, heads and features of a call.
constexpr int most_tokens = 32, most_heads = 32, most_features = 512;

/// The sink of a head that has none.
constexpr float no_sink = std::numeric_limits<float>::lowest();

struct Inputs {
    Halide::Func part_out;          // (d, h, i, p)
    Halide::Func part_lse;          // (i, h, p)     -inf: the part sees no key, and its part_out is not used
    Halide::Expr parts;             // extent of p
    std::vector<Halide::Var> outer; // none, or one
    Halide::Func sinks = {};        // (h)           no_sink: none; undefined: none of all heads
};

struct Stages {
    Halide::Var d{"d"}, h{"h"}, i{"i"};
    Halide::RVar part;       // of the updates of top, total and sum
    Halide::Func top, total; // (i, h)     greatest lse, and sum of exp(lse_p - top)
    // (i, h)     {exp(top - shift), sum of exp(lse_p - shift), that of the sink included, shift}; sinks only
    Halide::Func shared;
    Halide::Func sum;      // (d, h, i)  sum of exp(lse_p - top) out_p
    Halide::Func out, lse; // (d, h, i) (i, h)   the generator's own outputs
};

/// Defines `out` (stored as `type`) and `lse` (f32).
Stages algorithm(const Inputs &in, const Halide::Func &out, const Halide::Func &lse, const Halide::Type &type);

} // namespace gyre::merge
