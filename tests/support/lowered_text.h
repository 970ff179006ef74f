/// What a test asks of lowered code and of builds that stop.
#pragma once
#include <Halide.h>

#include <functional>
#include <string>

namespace gyre::test {

/// How often `what` stands in a text.
inline int count(const std::string &in, const std::string &what) {
    int found = 0;
    for (size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + 1)) found++;
    return found;
}

/// What a build is stopped with.
inline std::string refusal(const std::function<void()> &build) {
    try {
        build();
    } catch (const Halide::CompileError &error) {
        return error.what();
    }
    return "not refused";
}

} // namespace gyre::test
