/// How far a slope of ALiBi lets keys count whose scores are small.
#pragma once

namespace gyre {

/// What a slope times a distance takes of a score, in units of log2(e), after which nothing that counts is left of the power of a small
/// score, beside that of a near key (attention/engines/tiles/changed_scores.cpp).
constexpr float slope_of_nothing = 120;

/// The largest distance at which a key counts, for a slope with log2(e). Slopes below 0 have none.
inline int slope_reach(float slope) {
    constexpr int farthest = 1 << 28;
    return slope * farthest > slope_of_nothing ? static_cast<int>(slope_of_nothing / slope) : farthest;
}

} // namespace gyre
