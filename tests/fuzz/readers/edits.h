/// Texts that are nearly right: one of several, with parts cut out, repeated, overwritten and put in from others.
#pragma once
#include "../byte_reader.h"

#include <algorithm>
#include <string>
#include <vector>

namespace gyre::fuzz {

inline std::string edited(ByteReader &r, const std::vector<std::string> &texts) {
    std::string text = texts[r.below((uint32_t)texts.size())];
    for (uint32_t edits = r.below(6); edits > 0; edits--) {
        const auto at = (size_t)r.between(0, (int64_t)std::min<size_t>(text.size(), 65535));
        const auto length = (size_t)r.below(12);
        switch (r.below(6)) {
        case 0:
            text.erase(at, length);
            break;
        case 1:
            text.insert(at, text.substr(at, length * 4));
            break;
        case 2:
            text.insert(at, 1, (char)r.byte());
            break;
        case 3:
            if (at < text.size()) text[at] = (char)r.byte();
            break;
        case 4:
            text.insert(at, texts[r.below((uint32_t)texts.size())].substr(length));
            break;
        default:
            text.insert(at, length * 16, r.pick<char>({'[', '{', '(', ' ', '9', '"', '-', '\0'}));
            break;
        }
    }
    return text;
}

} // namespace gyre::fuzz
