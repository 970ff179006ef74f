/// What this machine's processor and its operating system offer, by the names that the target table uses.
#pragma once
#include <string>
#include <string_view>

namespace gyre {

/// True if the named feature can be used: the processor has it and the system saves its registers. Unknown names:
/// false.
bool cpu_has(std::string_view feature);

/// True if a product of pairs of bf16 numbers (vdpbf16ps) takes more time than the multiply-adds in f32 that do the same: Intel's processors run one
/// in 2.2 cycles where they run two multiply-adds in each.
bool has_slow_bf16_dots();

/// The names of all features that can be used, separated by blanks.
std::string cpu_features();

/// Asks the system for those of `features` that it grants to a process on request. False: it refuses. Only for what is about to
/// be used: the matrix tiles of x86 make signal frames larger than SIGSTKSZ.
bool obtain_features(std::string_view features);

} // namespace gyre
