#include "attention/mask_ranges.h"

#include <algorithm>
#include <cstring>

namespace gyre {
namespace {

/// One row of a mask: true where a byte is not 0.
class MaskRow {
public:
    MaskRow(const char *data, int64_t keys) : data_(data), keys_(keys) {}

    int64_t first_true() const {
        int64_t key = 0;
        while (key + word <= keys_ && word_at(key) == 0) key += word;
        while (key < keys_ && data_[key] == 0) key++;
        return key;
    }
    int64_t past_last_true() const {
        int64_t end = keys_;
        while (end >= word && word_at(end - word) == 0) end -= word;
        while (end > 0 && data_[end - 1] == 0) end--;
        return end;
    }
    bool sees(int64_t key) const { return data_[key] != 0; }
    /// True if keys first .. end - 1 are what is true.
    bool is_range(int64_t first, int64_t end) const { return !any(0, first) && all(first, end) && !any(end, keys_); }

private:
    static constexpr int64_t word = 8; // bytes
    const char *data_;
    int64_t keys_;

    uint64_t word_at(int64_t key) const {
        uint64_t bytes;
        std::memcpy(&bytes, data_ + key, sizeof bytes);
        return bytes;
    }
    // Without an early end, so that compilers form vectors.
    bool any(int64_t first, int64_t end) const {
        char seen = 0;
        for (int64_t key = first; key < end; key++) seen = static_cast<char>(seen | data_[key]);
        return seen != 0;
    }
    bool all(int64_t first, int64_t end) const {
        char hidden = 0;
        for (int64_t key = first; key < end; key++) hidden = static_cast<char>(hidden | (data_[key] == 0));
        return hidden == 0;
    }
};

} // namespace

bool may_have_key_ranges(const AttentionCall &c) {
    return c.mask.data && c.mask.strides[1] == 0 && c.mask.strides[3] == 1 && !c.dropout.on && !c.value_blocks;
}

KeyRange key_range_of_mask(const AttentionCall &c, int64_t index) {
    const Sequence s = c.sequence(index);
    const Broadcast &mask = c.mask;
    const auto row = [&](int64_t token) {
        return MaskRow(mask.data + s.batch * mask.strides[0] + token * mask.strides[2], s.k_len);
    };
    const int64_t rows = mask.strides[2] == 0 ? std::min<int64_t>(s.q_len, 1) : s.q_len;
    if (rows == 0) return {0, s.k_len, -1, true};
    const MaskRow last = row(rows - 1); // sees the most
    KeyRange range{last.first_true(), last.past_last_true(), -1, true};
    if (range.first >= range.end) range.first = range.end = 0;
    // The first row that sees the last key says where the diagonal is.
    int64_t diagonal = 0;
    while (diagonal < rows - 1 && range.end > 0 && !row(diagonal).sees(range.end - 1)) diagonal++;
    for (int64_t token = 0; token < rows; token++) {
        const int64_t end = std::max(range.end - std::max<int64_t>(diagonal - token, 0), range.first);
        if (!row(token).is_range(range.first, end)) return {};
    }
    if (diagonal == 0) return range;
    range.right = range.end - 1 - diagonal - c.shift(s);
    return range.right >= 0 ? range : KeyRange{};
}

} // namespace gyre
