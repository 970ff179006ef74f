/// Contexts of every target that runs here, with one thread and with several, and with a pool that keeps no promise but to run.
#pragma once
#include <gyre/gyre.h>

#include <string>
#include <vector>

namespace gyre::fuzz {

struct TargetContexts {
    std::string target;
    gyre_context *alone = nullptr;   // one thread
    gyre_context *several = nullptr; // three of its own
    gyre_context *odd = nullptr;     // a host's pool: tasks in any order, some not at all
};

/// Made once; with GYRE_TEST_ONLY_TARGET of that one alone.
const std::vector<TargetContexts> &all_contexts();

} // namespace gyre::fuzz
