/// The runner's command line.
#pragma once

#include "session.h"

#include "console/command.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gyre::tune {

struct Options {
    std::string kernel, verify, ratio_to;
    std::vector<std::string> libraries, shapes;
    std::int32_t threads = 1;
    bool thorough = false, only_timed = false, peak = false;
    std::int64_t limit_seconds = 0, limit_memory = 0; // 0: none
    SessionOptions session;
};

/// What was given, before defaults stand in for the rest.
struct GivenOptions {
    Options words_and_flags;
    std::optional<std::int64_t> threads, fewest_rounds, most_rounds, limit_seconds, limit_memory;
    std::optional<double> seconds, hopeless, cut;

    Options options() const;
};

void add_options(const cli::Command &program, GivenOptions &given);

} // namespace gyre::tune
