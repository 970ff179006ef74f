/// Runs one call on every target, in several ways that must give the same bits, and compares it with its definition.
#pragma once
#include "trial.h"

#include <string>

namespace gyre::fuzz {

/// How many calls of functions that compute were made.
struct TrialTally {
    long trials = 0, calls = 0;
};
TrialTally &trial_tally();

/// What is wrong, in one line; empty: nothing.
std::string run_trial(Trial &trial);

} // namespace gyre::fuzz
