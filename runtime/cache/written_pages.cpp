#include "cache/written_pages.h"

namespace gyre {
namespace {

constexpr int64_t nothing = -1;

/// The table has so many bits of rows that at most half of them are taken.
int bits_for(int64_t pages) {
    int bits = 1;
    while (int64_t{1} << bits < 2 * pages) bits++;
    return bits;
}

} // namespace

size_t WrittenPages::bytes(int64_t pages) { return pages ? sizeof(Row) << bits_for(pages) : 0; }

WrittenPages::WrittenPages(void *memory, int64_t pages) : rows(static_cast<Row *>(memory)), bits(bits_for(pages)) {
    for (int64_t i = 0; i < int64_t{1} << bits; i++) rows[i].page = nothing;
}

bool WrittenPages::add(int64_t page, int64_t first, int64_t end) {
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    // Knuth, The Art of Computer Programming, volume 3, section 6.4: multiplication by the golden ratio spreads pages that
    // follow each other.
    uint64_t row = static_cast<uint64_t>(page) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits);
    for (; rows[row].page != nothing; row = (row + 1) & mask)
        if (rows[row].page == page && rows[row].first < end && first < rows[row].end) return false;
    rows[row] = {page, first, end};
    return true;
}

} // namespace gyre
