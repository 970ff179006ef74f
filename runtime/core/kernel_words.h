/// The attributes of a kernel, for whoever asks for many of them.
#pragma once
#include "core/argument_row.h"
#include "gyre/kernels.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace gyre {

/// A kernel's attributes, read once. They must outlive it.
class KernelWords {
public:
    explicit KernelWords(const gyre_kernel &kernel) {
        std::string_view rest = kernel.attributes;
        while (!rest.empty() && count < most) {
            const std::string_view pair = rest.substr(0, rest.find(' '));
            const size_t equals = pair.find('=');
            if (equals != std::string_view::npos) words[count++] = {pair.substr(0, equals), pair.substr(equals + 1)};
            rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
        }
    }

    std::string_view value(std::string_view name) const {
        for (size_t i = 0; i < count; i++)
            if (words[i].first == name) return words[i].second;
        return {};
    }
    /// True if it is made with a parameter, or has a fact, that is neither false nor 0; or for caches of this format.
    bool is(std::string_view name) const {
        if (value("cache") == name) return true;
        const std::string_view text = value(name);
        return !text.empty() && text != "false" && text != "0";
    }
    /// Whether it has an argument of its table. Rows with the same condition follow each other.
    bool has(const ArgumentRow &row) {
        if (row.when == "always") return true;
        if (row.when != last) {
            last = row.when;
            is_last = is(last);
        }
        return is_last;
    }

private:
    static constexpr size_t most = 64;
    std::array<std::pair<std::string_view, std::string_view>, most> words;
    size_t count = 0;
    std::string_view last;
    bool is_last = false;
};

} // namespace gyre
