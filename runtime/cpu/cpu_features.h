/// What this machine and its operating system offer, a CUDA device included, by the names that the target table uses.
#pragma once
#include <string_view>

namespace gyre {

/// True if the named feature can be used: the processor has it and the system saves its registers. Unknown names:
/// false.
bool cpu_has(std::string_view feature);

/// The first of `features` (separated by blanks) that this machine lacks; empty if it has them all.
std::string_view first_missing_feature(std::string_view features);

/// Asks the system for those of `features` that it grants to a process on request. False: it refuses. Only for what is about to
/// be used: the matrix tiles of x86 make signal frames larger than SIGSTKSZ.
bool obtain_features(std::string_view features);

} // namespace gyre
