/// Loops whose turns read what was put into shared memory before: what is put there is taken out, so that it can be put there
/// turns ahead.
#pragma once
#include <Halide.h>

#include <set>
#include <string>
#include <vector>

namespace gyre::cuda {

struct Staging {
    std::string func;
    Halide::Internal::Stmt fill; // of one turn, by the loop's variable
};

struct StagedLoop {
    std::vector<Staging> staging; // empty: there is nothing to take
    Halide::Internal::Stmt body;  // without them
    int slots = 0;                // turns that shared memory has room for
};

/// Takes producers out of a loop that only store into `shared`, which a schedule made a ring of: slot = variable % slots.
StagedLoop read_staged_loop(const Halide::Internal::For *loop, const std::set<std::string> &shared);

/// True if a statement stores into one of these.
bool stores_into(const Halide::Internal::Stmt &s, const std::set<std::string> &arrays);

/// True if a statement stores into one of these, or reads it.
bool touches(const Halide::Internal::Stmt &s, const std::set<std::string> &arrays);

} // namespace gyre::cuda
