/// Any bytes are a problem and a relation between calls that needs no definition of what they compute: keys in another order, in
/// parts that are merged, entries alone, pages, causal prefill in pieces, sums of gradients. What is promised to be the same bits is.
#include "relation.h"

#include <cstdio>
#include <cstdlib>

using namespace gyre::fuzz;

namespace {

struct Report {
    ~Report() { std::fprintf(stderr, "%ld cases, %ld calls\n", relation_tally().cases, relation_tally().calls); }
} report;

std::string try_one(ByteReader &r) {
    switch (r.below(8)) {
    case 0:
        return try_rows(r);
    case 1:
        return try_linear(r);
    case 2:
    case 3:
        return try_gradients(r);
    default:
        return try_attention(r);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    ByteReader reader(bytes, count);
    const std::string wrong = try_one(reader);
    if (wrong.empty()) return 0;
    std::fprintf(stderr, "%s", wrong.c_str());
    std::abort();
}
