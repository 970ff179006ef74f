/// doctest, and what its messages need: it prints a plain `const char *` as an address.
#pragma once
#include <doctest/doctest.h>

#include <string>

namespace gyre::test {

inline std::string text(const char *string) { return string ? string : "(null)"; }

} // namespace gyre::test
