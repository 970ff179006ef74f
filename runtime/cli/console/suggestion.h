/// What somebody may have meant who mistyped a name.
#pragma once

#include <string>
#include <vector>

namespace gyre::cli {

/// The name that takes the fewest insertions, removals and replacements of a character to make of `word`; "" if each
/// takes more than a third of the word's length. Dashes in front do not count.
std::string most_similar(const std::string &word, const std::vector<std::string> &names);

} // namespace gyre::cli
