/// What a command prints besides its result.
#pragma once

#include <string>

namespace gyre::cli {

/// A line on stderr that says what is going on, only if stderr is a terminal; it disappears in the end.
class Progress {
public:
    Progress();
    ~Progress();
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    void show(const std::string &text);
    void clear();

private:
    bool is_terminal_;
};

/// Prints a result on stdout. Throws RunError if it cannot be written, say because the disk is full.
void print(const std::string &text);

/// One line: control characters, such as those in a file's name, become blanks.
std::string one_line(std::string text);

} // namespace gyre::cli
