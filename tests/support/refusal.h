/// Checks that a call is refused the way the header promises.
#pragma once
#include "doctest.h"

#include <gyre/gyre.h>

#include <functional>
#include <string>

namespace gyre::test {

/// True if gyre_last_error_argument() is `named`, an element or a member of it, or a member of that name: "rope" and "theta" are
/// both names of "rope.theta", and "cu_seqlens_q" is one of "cu_seqlens_q[2]".
inline bool blames(const std::string &named) {
    const char *argument = gyre_last_error_argument();
    if (!argument) return false;
    const std::string path = std::string(".") + argument + ".";
    const size_t at = path.find("." + named);
    if (at == std::string::npos) return false;
    const char behind = path[at + 1 + named.size()];
    return behind == '.' || behind == '[';
}

/// The status of a tensor of 4-byte elements that ends past 2^31 of them: addresses of 32 bits end before.
constexpr gyre_status past_2_31_elements = sizeof(void *) < 8 ? GYRE_BAD_SHAPE : GYRE_UNSUPPORTED;

/// One way to spoil a good call, and what the refusal must say: `named` is the argument to blame, and after a blank perhaps a word
/// that the message must hold, "score deberta"; nullptr: no argument is to blame.
template <typename Case>
struct Refusal {
    const char *what;
    gyre_status status;
    const char *named;
    std::function<void(Case &)> spoil;
};

/// The status, the argument to blame, and a message of one line that begins with its name.
inline void check_refused(const char *what, gyre_status status, gyre_status expected, const char *named) {
    const std::string message = gyre_last_error();
    CAPTURE(text(what));
    CAPTURE(text(named));
    CAPTURE(message);
    CHECK(text(gyre_status_string(status)) == text(gyre_status_string(expected)));
    CHECK(message.find('\n') == std::string::npos);
    if (!named) {
        CHECK(gyre_last_error_argument() == nullptr);
        return;
    }
    const std::string words = named;
    const size_t end = words.find(' ');
    CHECK(blames(words.substr(0, end)));
    CHECK(message.find(text(gyre_last_error_argument()) + ": ") == 0);
    if (end != std::string::npos) CHECK(message.find(words.substr(end + 1)) != std::string::npos);
}

} // namespace gyre::test
