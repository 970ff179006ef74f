/// How many parts the keys of a sequence are cut into.
#pragma once
#include <cstdint>

namespace gyre::key_parts {

constexpr int64_t least = 1024; // keys of a part, where there is more than one
constexpr int64_t most = 16;    // parts of a sequence
/// One key head alone keeps one thread busy where its keys are one part: so many of them are two.
constexpr int64_t least_halved = 512;

} // namespace gyre::key_parts
