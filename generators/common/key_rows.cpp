#include "key_rows.h"

namespace gyre {
using namespace Halide;

Expr offset_of_key(const Pages &pages, const KeyRows &rows, const Expr &key, bool one_page_apart) {
    if (!pages.table.defined()) return key * rows.slot_stride;
    const Expr slot = pages.first_slot + key;
    const Expr place = unsafe_promise_clamped(slot >> pages.bits, 0, pages.count - 1);
    const Expr page = pages.table(one_page_apart ? select(pages.count == 1, 0, place) : place);
    return page * rows.page_stride + (slot & ((1 << pages.bits) - 1)) * rows.slot_stride;
}

} // namespace gyre
