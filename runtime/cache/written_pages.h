/// Notes which slots of a pool's pages a call writes, to find one that it would write twice.
#pragma once
#include <cstddef>
#include <cstdint>

namespace gyre {

/// A hash table in memory that is given: constant time a page, however many the pool has.
class WrittenPages {
public:
    /// Memory for up to `pages` calls of add(); none for 0.
    static size_t bytes(int64_t pages);

    WrittenPages(void *memory, int64_t pages);

    /// Notes slots [first, end) of a page. False: one of them has been noted before.
    bool add(int64_t page, int64_t first, int64_t end);

private:
    struct Row {
        int64_t page, first, end;
    };
    Row *rows;
    int bits; // of their number
};

} // namespace gyre
