/// Options of scores that a test adds to a case by their name.
#pragma once
#include "attention_case.h"

#include <string>
#include <vector>

namespace gyre::test {

/// A bias of each head, a mask of all heads or of each, or other options of scores. All but masks of heads are causal.
constexpr const char *score_options[] = {"none",  "bias",    "mask",  "mask of heads",
                                         "ALiBi", "softcap", "sinks", "window"};

inline void add_option(AttentionCase *c, const std::string &option) {
    const AttentionShape &s = c->shape;
    c->args.causal = option != "mask of heads";
    if (option == "bias") {
        Tensor bias(GYRE_BF16, {s.heads, s.seqlen_q, s.seqlen_kv});
        bias.fill_normal(3);
        c->args.bias = c->hold(std::move(bias));
    }
    if (option == "mask" || option == "mask of heads") {
        const int64_t heads = option == "mask" ? 1 : s.heads;
        Tensor mask(GYRE_BOOL, {1, heads, s.seqlen_q, s.seqlen_kv});
        for (int64_t h = 0; h < heads; h++)
            for (int64_t i = 0; i < s.seqlen_q; i++)
                for (int64_t j = 0; j < s.seqlen_kv; j++) mask.set({0, h, i, j}, (i + 2 * j + h) % 3 != 0);
        c->args.mask = c->hold(std::move(mask));
    }
    std::vector<double> of_heads;
    for (int64_t h = 0; h < s.heads; h++) of_heads.push_back(0.1 + 0.05 * (double)h);
    if (option == "ALiBi") c->args.alibi = c->hold(GYRE_F32, of_heads);
    if (option == "sinks") c->args.sinks = c->hold(GYRE_F32, of_heads);
    if (option == "softcap") c->args.softcap = 2;
    if (option == "window") c->args.window_left = 3;
}

} // namespace gyre::test
