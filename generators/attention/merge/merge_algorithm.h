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

/// How several threads share the parts of a row on a device: a turn of a share takes parts_at_once parts, `shares` apart.
constexpr int features_at_once = 4; // of a thread
constexpr int shares = 16, parts_at_once = 8, lanes_of_parts = 8, most_shared_parts = 512;

/// The sink of a head that has none.
constexpr float no_sink = std::numeric_limits<float>::lowest();

struct Inputs {
    Halide::Func part_out;          // (d, h, i, p)
    Halide::Func part_lse;          // (i, h, p)     -inf: the part sees no key, and its part_out is not used
    Halide::Expr parts;             // extent of p
    std::vector<Halide::Var> outer; // none, or one
    Halide::Func sinks = {};        // (h)           no_sink: none; undefined: none of all heads
    bool shared = false;            // several threads share a row's parts, at most most_shared_parts
    Halide::Expr heads = {};        // extent of h; undefined: no rows of heads are formed that are not there
};

struct Stages {
    Halide::Var d{"d"}, h{"h"}, i{"i"};
    Halide::RVar part;       // of the updates of top, total and sum
    Halide::Func top, total; // (i, h)     greatest lse, and sum of exp(lse_p - top)
    // (i, h)     {exp(top - shift), sum of exp(lse_p - shift), that of the sink included, shift}; sinks only
    Halide::Func shared;
    Halide::Func sum; // (d, h, i)  sum of exp(lse_p - top) out_p
    // Where threads share a row's parts, p up to a whole number of turns:
    Halide::Var share{"share"}, lane{"lane_of_parts"}, p{"p"};
    Halide::RVar part_of_turn, turn, all_shares; // of share_sums' update, and of sum's
    Halide::RVar part_of_lane, of_lanes;         // of those of lane_tops and lane_totals, and of top and total
    Halide::Func part_lses;                      // (i, h, p)  -inf: the part sees no key, or there is none
    Halide::Func part_weights;                   // (i, h, p)  exp(lse_p - top), or that of no part
    Halide::Func lane_tops, lane_totals;         // (i, h, lane)  top and total of each lanes_of_parts-th part
    Halide::Func share_sums;                     // (d, h, i, share)  sum of each shares-th part
    Halide::Func shared_sums;                    // likewise, in shared memory
    Halide::Func row_lse;                        // (i, h)     as lse has it; undefined without Inputs::heads
    Halide::Func out, lse;                       // (d, h, i) (i, h)   the generator's own outputs
};

/// Defines `out` (stored as `type`) and `lse` (f32).
Stages algorithm(const Inputs &in, const Halide::Func &out, const Halide::Func &lse, const Halide::Type &type);

} // namespace gyre::merge
