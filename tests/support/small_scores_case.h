/// Calls in bf16 without lse whose scores are of a size that is known: those that matrix tiles may take without a maximum.
#pragma once
#include "attention_case.h"

namespace gyre::test {

constexpr double log2_of_e = 1.4426950408889634;

struct SmallCase : AttentionCase {
    SmallCase(int64_t rows, int64_t keys, int64_t head_dim)
        : AttentionCase(AttentionShape().lengths(rows, keys).head_counts(2, 2).dims(head_dim).of(GYRE_BF16)) {
        args.lse = nullptr;
    }
    void slopes(double first, double second) { args.alibi = hold(GYRE_F32, {first, second}); }
    /// Scores of all rows and keys of so many units of log2(e), every fourth key's negative.
    void set_scores(double score) {
        q.fill(1.0);
        for (int64_t key = 0; key < k.shape()[1]; key++)
            for (int64_t head = 0; head < 2; head++) set_key(key, head, key % 4 == 3 ? -1.0 : 1.0);
        args.scale = (float)(score / log2_of_e / (double)shape.head_dim);
        roundings_of_score += (double)shape.head_dim; // all products are alike
    }
    void set_key(int64_t key, int64_t head, double value) {
        for (int64_t d = 0; d < shape.head_dim; d++) k.set({0, key, head, d}, value);
    }
    void set_value(int64_t key, double value) { v.set({0, key, 0, 3}, value); }
};

} // namespace gyre::test
