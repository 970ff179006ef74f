/// A row of a boolean mask, as far as it counts.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

namespace gyre {

/// The keys first .. end - 1 of a row of a mask, as far as neither the call's window nor its lengths hide them: what the mask says
/// of other keys does not count. A byte that is not 0 is true.
class MaskRow {
public:
    MaskRow(const char *data, int64_t first, int64_t end) : data_(data), first_(first), end_(std::max(first, end)) {}

    int64_t end() const { return end_; }
    int64_t first_true() const {
        int64_t key = first_;
        while (key + word <= end_ && word_at(key) == 0) key += word;
        while (key < end_ && data_[key] == 0) key++;
        return key;
    }
    int64_t past_last_true() const {
        int64_t past = end_;
        while (past - word >= first_ && word_at(past - word) == 0) past -= word;
        while (past > first_ && data_[past - 1] == 0) past--;
        return past;
    }
    /// True if all keys are, from `first` to the one before `end`, both of this row.
    bool all(int64_t first, int64_t end) const {
        if (end - first < vector) {
            for (int64_t key = first; key < end; key++)
                if (data_[key] == 0) return false;
            return true;
        }
        int64_t key = first;
        for (; key + chunk <= end; key += chunk)
            if (any(hidden(key, key + chunk))) return false;
        return !any(hidden(key, end) | hidden(end - vector, end));
    }

private:
    static constexpr int64_t word = 8;    // bytes
    static constexpr int64_t vector = 16; // bytes
    static constexpr int64_t chunk = 128; // bytes
    const char *data_;
    int64_t first_, end_;

    uint64_t word_at(int64_t key) const {
        uint64_t bytes;
        std::memcpy(&bytes, data_ + key, sizeof bytes);
        return bytes;
    }
    typedef unsigned char Bytes __attribute__((vector_size(vector))); // formed by the compiler where a target has none

    /// Where keys are false in any of the whole vectors from `first` on, up to `end`. Without an early end, since a branch a vector
    /// would take longer than to look at it.
    Bytes hidden(int64_t first, int64_t end) const {
        Bytes found{};
        for (int64_t key = first; key + vector <= end; key += vector) {
            Bytes of_keys;
            std::memcpy(&of_keys, data_ + key, sizeof of_keys);
            found |= reinterpret_cast<Bytes>(of_keys == 0);
        }
        return found;
    }
    static bool any(const Bytes &found) {
        uint64_t halves[2];
        std::memcpy(halves, &found, sizeof halves);
        return (halves[0] | halves[1]) != 0;
    }
};

} // namespace gyre
