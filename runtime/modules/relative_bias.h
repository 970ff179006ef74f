/// T5's relative position bias: a learnt number for each head and each bucket of distances. Source: Raffel et al., Exploring the
/// Limits of Transfer Learning (arXiv:1910.10683), section 2.1; buckets as in generators/attention/scores/t5_buckets.h.
#pragma once

#include <cstdint>
#include <vector>

namespace gyre::modules {

struct RelativeBias {
    std::int32_t buckets = 0;
    std::int32_t heads = 0;
    std::int32_t max_distance = 0; // the largest that is told apart
    bool causal = false;           // keys after the query count as distance 0; else half of the buckets are theirs

    std::int32_t bucket(std::int64_t key_minus_query) const;

    /// bias[h, i, j] = table[bucket(j - i), h].   table: [buckets, heads]; bias: [heads, rows, keys]
    void fill(const float *table, std::int64_t rows, std::int64_t keys, std::vector<float> *bias) const;

    /// Its gradient: table_grad[bucket(j - i), h] += bias_grad[h, i, j], distance by distance, a distance in double.
    void add_gradient(const std::vector<float> &bias_grad, std::int64_t rows, std::int64_t keys,
                      float *table_grad) const;
};

} // namespace gyre::modules
