/// What this machine offers, a device beside its processor included, by the names that the target table uses.
#pragma once
#include <string_view>

namespace gyre {

/// The first of `features` (separated by blanks) that this machine lacks; empty if it has them all.
std::string_view first_missing_feature(std::string_view features);

} // namespace gyre
