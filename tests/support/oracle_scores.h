/// The rows of probabilities that both forms of the attention oracle weight their values with.
#pragma once
#include "dense.h"
#include "oracle_rotary.h"

#include <gyre/gyre.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace gyre::test {

/// One sequence: where its tokens lie in the dense tensors, and how many keys exist.
struct OracleSequence {
    int64_t entry = 0; // of cu_seqlens or of the batch
    int64_t batch = 0; // index into the dense tensors
    int64_t q_begin = 0, q_length = 0, k_begin = 0, k_length = 0;
};

/// Magnitudes of what scores are added up from, the largest of the keys that are visible: what relative errors are multiplied by.
struct ScoreSize {
    double sum = 0;  // of all terms: products of features, distance, bias, sink
    double norm = 0; // root of the sum of the squares of the products
};

struct OracleRow {
    std::vector<double> weights; // P_ij, [k_length]; 0 where masked alone
    std::vector<double> keep;    // what dropout multiplies them by, [k_length]
    double lse = 0;
    ScoreSize size;
};

/// One score and where it stands, for a score function by its definition.
struct OraclePoint {
    double score = 0; // scaled and capped
    double scale = 0; // of the call
    int64_t entry = 0, head = 0, i = 0, j = 0;
    int64_t q_token = 0, k_token = 0; // of the dense tensors
    int64_t ahead = 0;                // pos_k - pos_q
};
/// The score to take instead; minus infinity: masked. Empty: scores as they are.
using OracleScore = std::function<double(const OraclePoint &)>;

class OracleScores {
public:
    explicit OracleScores(const gyre_attention_args &args, OracleScore score_function = {});

    /// Probabilities of query `i` of a sequence, counted from its beginning. They are there until the next call: memory for each
    /// row takes AddressSanitizer longer than the row.
    const OracleRow &row(const OracleSequence &sequence, int64_t head, int64_t i);

    /// True if the key counts for nothing, whatever the score is.
    bool masks(const OracleSequence &sequence, int64_t head, int64_t i, int64_t j) const;

    const std::vector<OracleSequence> &sequences() const { return sequences_; }
    int64_t kv_head(int64_t head) const { return head / (q_.heads / k_.heads); }
    const std::vector<double> &q_positions() const { return q_positions_; }
    const std::vector<double> &k_positions() const { return k_positions_; }
    const Dense &q() const { return q_; }
    const Dense &k() const { return k_; }

private:
    /// pos_k - pos_q, for masks and ALiBi.
    int64_t ahead(const OracleSequence &sequence, int64_t i, int64_t j) const;
    /// The score of a key that is not masked. Widens `size`.
    double score(const OracleSequence &sequence, int64_t head, int64_t i, int64_t j, ScoreSize &size) const;

    gyre_attention_args args_;
    Dense q_, k_; // rotated
    std::vector<OracleSequence> sequences_;
    std::vector<double> q_positions_, k_positions_; // [axes, batch * seqlen], for the rotations
    double scale_ = 0;
    OracleScore score_function_;
    OracleRow row_;
    std::vector<char> sees_; // the row's keys
};

} // namespace gyre::test
