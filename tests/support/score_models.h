/// The position encodings that score functions are shipped for. Of each: the parameters of a model, drawn at random;
/// the tensors that the recipe in its header forms of them; and the score by its definition, from the parameters, in
/// double.
#pragma once
#include "score_case.h"

#include <cstdint>
#include <vector>

namespace gyre::test {

struct ScoreModel {
    const char *score;
    /// Draws parameters, gives the case its inputs and sets its oracle. The case's lengths must have been set.
    void (*prepare)(ScoreCase &c, uint64_t seed);
};

/// Every score function of generators/attention/scores.
const std::vector<ScoreModel> &score_models();
const ScoreModel &score_model(const std::string &score);

void prepare_alibi(ScoreCase &c, uint64_t seed);
void prepare_t5_bidirectional(ScoreCase &c, uint64_t seed);
void prepare_t5_causal(ScoreCase &c, uint64_t seed);
void prepare_sliding_window_global(ScoreCase &c, uint64_t seed);
void prepare_document_mask(ScoreCase &c, uint64_t seed);
void prepare_shaw(ScoreCase &c, uint64_t seed);
void prepare_transformer_xl(ScoreCase &c, uint64_t seed);
void prepare_deberta(ScoreCase &c, uint64_t seed);

/// T5's bucket of a relative position pos_k - pos_q, by its formula.
int64_t t5_bucket(int64_t relative_position, bool bidirectional, int64_t num_buckets, int64_t max_distance);

} // namespace gyre::test
