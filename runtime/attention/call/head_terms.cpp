#include "attention/call/head_terms.h"

#include "core/workspace.h"

#include <algorithm>
#include <limits>

namespace gyre {
namespace {

constexpr float largest = std::numeric_limits<float>::max();

} // namespace

const float HeadTerms::none = -largest;
const float HeadTerms::zero = 0;

float HeadTerms::finite_product(float number, float factor) { return std::clamp(number * factor, -largest, largest); }

size_t HeadTerms::bytes(const AttentionCall &c) {
    const int64_t numbers = (c.alibi ? 1 : 0) + (c.sinks ? 2 : 0);
    return round_up(static_cast<size_t>(numbers * c.q.heads) * sizeof(float));
}

void HeadTerms::form(const AttentionCall &c, char *memory) {
    auto *next = reinterpret_cast<float *>(memory);
    const auto formed = [&](const float *given, float factor) {
        float *const first = next;
        for (int64_t h = 0; h < c.q.heads; h++) *next++ = finite_product(given[h], factor);
        return Numbers{first, 1};
    };
    if (c.alibi) slope = formed(c.alibi, log2_e);
    if (!c.sinks) return;
    sink = formed(c.sinks, log2_e);
    plain = formed(c.sinks, 1);
}

} // namespace gyre
