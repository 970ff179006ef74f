/// What attention is asked, apart from where its numbers lie: relations change it, and say what the change does to the result.
#pragma once
#include "../byte_reader.h"
#include "support/dense.h"

#include <gyre/gyre.h>

#include <optional>
#include <string>
#include <vector>

namespace gyre::fuzz {

/// Tokens `from` .. `to` - 1 of all entries.
test::Dense tokens_of(const test::Dense &x, int64_t from, int64_t to);
/// One entry of the batch.
test::Dense entry_of(const test::Dense &x, int64_t b);
/// Every number times `factor`.
test::Dense scaled(test::Dense x, double factor);

struct Problem {
    gyre_dtype dtype = GYRE_F32;
    test::Dense q, k, v;
    std::vector<int64_t> k_length;                // keys that each entry has
    std::vector<double> q_positions, k_positions; // [batch, tokens]; empty: as defaults are
    std::vector<double> mask, bias;               // [batch, seqlen_q, seqlen_kv], the same in all heads; empty: none
    std::vector<double> sinks, alibi;             // [heads]; empty: none
    std::optional<gyre_rope> rope, value_rope;
    gyre_attention_args options = gyre_attention_defaults(); // numbers alone

    int64_t batch() const { return q.batch; }
    int64_t queries() const { return q.seqlen; }
    int64_t keys() const { return k.seqlen; }
    int64_t heads() const { return q.heads; }
    bool has_lengths() const;
    double scale() const;
    std::string text() const;

    /// This problem with the positions that are its defaults.
    Problem with_positions() const;
    Problem with_entry(int64_t b) const;
    /// Keys `from` .. `to` - 1; positions are given.
    Problem with_keys(int64_t from, int64_t to) const;
    /// Queries `from` .. `to` - 1; positions are given.
    Problem with_queries(int64_t from, int64_t to) const;
    /// Key order[b][j] of each entry at j; positions are given.
    Problem with_order(const std::vector<std::vector<int64_t>> &order) const;
    /// With room for so many keys, of which no more exist; all that is there holds `garbage`.
    Problem with_room(int64_t room, double garbage) const;
    /// Every query head with keys and values of its own.
    Problem with_own_heads() const;
};

struct ProblemRules {
    bool may_depend_on_order = true; // of the keys: causal, window, ALiBi
    bool square = false;             // as many keys as queries, all of which exist
    bool has_gradients = false;      // nothing that has none
    int64_t most_keys = 600;
};

Problem random_problem(ByteReader &r, const ProblemRules &rules);

/// Another order of each entry's keys; those that do not exist stay where they are.
std::vector<std::vector<int64_t>> random_order(const Problem &p, uint16_t seed);

} // namespace gyre::fuzz
