#include "memory.h"

#include <algorithm>
#include <cstring>

namespace gyre::fuzz {
namespace {

constexpr uint32_t kinds = 4, seeds = 16;
constexpr double usual_frequency = 1e-3;
constexpr uint32_t spoilt_frequencies = 16;

/// Numbers, lists that hardly ever hold, zeros, or anything at all.
void fill(const GuardedMemory &image, uint32_t kind, uint32_t seed) {
    uint64_t state = seed;
    for (uint8_t *at = image.begin(); at != image.end(); at += 4) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const auto random = (uint32_t)(state >> 33);
        const float number = (float)(int32_t)(random % 2001 - 1000) / 300;
        const uint32_t word = random % 9;
        if (kind == 0) std::memcpy(at, &number, 4);
        if (kind == 1) std::memcpy(at, &word, 4);
        if (kind == 3) std::memcpy(at, &random, 4);
    }
}

} // namespace

Memory::Memory() {
    for (uint32_t i = 0; i < kinds * seeds; i++) {
        GuardedMemory &one = images.emplace_back(bytes);
        fill(one, i % kinds, i / kinds);
        one.make_read_only();
    }
    std::fill_n(frequencies(), bytes, usual_frequency);
}

void Memory::choose(ByteReader &from) {
    image = &images[from.below(kinds * seeds)];
    untouched = from.rarely(4) ? 0 : 0xa5; // a list of zeros often holds
    std::memset(outputs_.begin(), untouched, bytes);
    if (spoilt) std::fill_n(frequencies(), spoilt_frequencies, usual_frequency);
    spoilt = false;
}

void Memory::spoil_frequency(uint32_t which, double value) {
    frequencies()[which % spoilt_frequencies] = value;
    spoilt = true;
}

bool Memory::as_it_should_be(gyre_status status) const {
    if (status == GYRE_OK) return true;
    const uint8_t *out = outputs_.begin(); // all bytes are the first one
    return out[0] == untouched && std::memcmp(out, out + 1, bytes - 1) == 0;
}

} // namespace gyre::fuzz
