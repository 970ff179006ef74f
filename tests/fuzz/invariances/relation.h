/// What relations have in common.
#pragma once
#include "../valid/contexts.h"
#include "relations.h"

#include <gyre/gyre.h>

namespace gyre::fuzz {

struct RelationTally {
    long cases = 0, calls = 0;
};
inline RelationTally &relation_tally() {
    static RelationTally tally;
    return tally;
}

/// Calls try_on(contexts) for each target; the first complaint, with the target's name.
template <typename Try>
std::string on_each_target(const Try &try_on) {
    relation_tally().cases++;
    for (const TargetContexts &contexts : all_contexts()) {
        const std::string wrong = try_on(contexts);
        if (!wrong.empty()) return contexts.target + ": " + wrong;
    }
    return "";
}

} // namespace gyre::fuzz
