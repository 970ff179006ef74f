/// What the program tells others about its commands: the page that man shows, and the words that a shell completes.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace gyre::cli {

/// The manual page of section 1 as troff reads it: every command with its options and its example. title: in the page's foot.
std::string manual_page(const CLI::App &program, const std::string &title);

/// The words that may stand behind `words`, one a line: commands, options, or what an option takes. "" where that is a file, a
/// number or other text.
std::string completions(const CLI::App &program, const std::vector<std::string> &words);

} // namespace gyre::cli
