#include "attention/head_terms.h"

#include "core/workspace.h"

#include <algorithm>
#include <limits>

namespace gyre {
namespace {

constexpr float log2_e = 1.44269504088896f;

} // namespace

const float HeadTerms::none = std::numeric_limits<float>::lowest();
const float HeadTerms::zero = 0;

size_t HeadTerms::bytes(const AttentionCall &c) {
    const int64_t numbers = (c.alibi ? 1 : 0) + (c.sinks ? 2 : 0);
    return round_up(static_cast<size_t>(numbers * c.q.heads) * sizeof(float));
}

void HeadTerms::form(const AttentionCall &c, char *memory) {
    auto *next = reinterpret_cast<float *>(memory);
    const auto formed = [&](const float *given, float factor, float least) {
        float *const first = next;
        for (int64_t h = 0; h < c.q.heads; h++) *next++ = std::max(given[h] * factor, least);
        return Numbers{first, 1};
    };
    if (c.alibi) slope = formed(c.alibi, log2_e, none);
    if (!c.sinks) return;
    sink = formed(c.sinks, log2_e, none);
    plain = formed(c.sinks, 1, none);
}

} // namespace gyre
