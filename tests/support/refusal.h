/// Checks that a call is refused the way the header promises.
#pragma once
#include "doctest.h"

#include <gyre/gyre.h>

#include <cctype>
#include <functional>
#include <string>

namespace gyre::test {

/// True if the last message has `name` as a word of its own: "x" is not in "index".
inline bool message_names(const std::string &name) {
    const std::string message = gyre_last_error();
    const auto is_word = [](char c) { return std::isalnum((unsigned char)c) || c == '_'; };
    for (size_t at = message.find(name); at != std::string::npos; at = message.find(name, at + 1)) {
        const size_t end = at + name.size();
        const bool begins = at == 0 || !is_word(message[at - 1]),
                   ends = end == message.size() || !is_word(message[end]);
        if (begins && ends) return true;
    }
    return false;
}

/// One way to spoil a good call, and what the refusal must say.
template <typename Case>
struct Refusal {
    const char *what;
    gyre_status status;
    const char *named;
    std::function<void(Case &)> spoil;
};

/// The status, a message of one line that names the argument, and no trace of another failure's message.
inline void check_refused(const char *what, gyre_status status, gyre_status expected, const char *named) {
    CAPTURE(text(what));
    CAPTURE(text(gyre_last_error()));
    CHECK(text(gyre_status_string(status)) == text(gyre_status_string(expected)));
    CHECK(message_names(named));
    CHECK(text(gyre_last_error()).find('\n') == std::string::npos);
}

} // namespace gyre::test
