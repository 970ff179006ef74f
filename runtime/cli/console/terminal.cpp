#include "console/terminal.h"

#include "console/errors.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace gyre::cli {
namespace {

const char erase_line[] = "\r\x1b[K";

} // namespace

Progress::Progress() : is_terminal_(isatty(STDERR_FILENO)) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
    if (is_terminal_) std::fputs(erase_line, stderr);
}

void Progress::show(const std::string &text) {
    if (is_terminal_) std::fprintf(stderr, "%s%s", erase_line, one_line(text).c_str());
}

void print(const std::string &text) {
    const bool written = std::fputs(text.c_str(), stdout) >= 0 && std::fputc('\n', stdout) != EOF;
    if (!written || std::fflush(stdout) != 0) throw RunError("standard output cannot be written");
}

std::string one_line(std::string text) {
    const auto is_control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
    std::replace_if(text.begin(), text.end(), is_control, ' ');
    return text;
}

} // namespace gyre::cli
