/// b=1,h=8,hkv=8,lq=1024,lk=1024,d=64,causal=0: what is timed.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace gyre::tune {

/// The tuner writes shapes out in full; a size that is not said is 1, or 0 for causal.
class Shape {
public:
    /// Throws Failure.
    explicit Shape(const std::string &text);

    std::int64_t operator[](const std::string &key) const;
    const std::string &text() const { return text_; }

private:
    std::string text_;
    std::map<std::string, std::int64_t> sizes_;
};

} // namespace gyre::tune
