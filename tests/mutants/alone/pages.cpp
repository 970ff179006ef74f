/// Runs of slots that are written: which are told to meet, in a table for three pages.
#include "cache/written_pages.h"

#include <vector>

int main() {
    std::vector<char> memory(gyre::WrittenPages::bytes(3));
    gyre::WrittenPages pages(memory.data(), 3);
    const bool apart = pages.add(7, 0, 4) && pages.add(7, 4, 6) && pages.add(8, 0, 4);
    const bool meets = !pages.add(7, 3, 4);
    return apart && meets ? 0 : 1;
}
