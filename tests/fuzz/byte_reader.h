/// The bytes of a fuzzer as the choices of a test case. Past their end everything is 0.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace gyre::fuzz {

class ByteReader {
public:
    ByteReader(const uint8_t *bytes, size_t count) : bytes_(bytes), left_(count) {}

    uint8_t byte() {
        if (!left_) return 0;
        left_--;
        return *bytes_++;
    }
    /// 0 .. count - 1.
    uint32_t below(uint32_t count) { return byte() % count; }
    /// True in one of `rarity` cases.
    bool rarely(uint32_t rarity = 16) { return byte() % rarity == rarity - 1; }
    /// lowest .. highest, which are less than 2^16 apart.
    int64_t between(int64_t lowest, int64_t highest) { return lowest + number<uint16_t>() % (highest - lowest + 1); }
    template <typename Choice>
    Choice pick(std::initializer_list<Choice> from) {
        return from.begin()[below((uint32_t)from.size())];
    }
    template <typename Number>
    Number number() {
        Number value{};
        uint8_t raw[sizeof(Number)];
        for (uint8_t &one : raw) one = byte();
        std::memcpy(&value, raw, sizeof value);
        return value;
    }
    /// A number at the edges of what 64 bits hold, or a small one.
    int64_t edge() {
        switch (below(8)) {
        case 0:
            return INT64_MAX;
        case 1:
            return INT64_MIN;
        case 2:
            return INT64_MAX / (1 + byte());
        case 3:
            return INT64_C(1) << below(63);
        case 4:
            return -(INT64_C(1) << below(63));
        case 5:
            return number<int32_t>();
        case 6:
            return -static_cast<int64_t>(byte());
        default:
            return byte();
        }
    }

private:
    const uint8_t *bytes_;
    size_t left_;
};

} // namespace gyre::fuzz
