#include "key_rows.h"

namespace gyre {
using namespace Halide;

Expr offset_of_key(const Pages &pages, const KeyRows &rows, const Expr &key) {
    if (!pages.table.defined()) return key * rows.slot_stride;
    const Expr slot = pages.first_slot + key;
    const Expr place = unsafe_promise_clamped(slot >> pages.bits, 0, pages.count - 1);
    const Expr page = pages.table(select(pages.count == 1, 0, place)); // schedules may specialise for one page
    return page * rows.page_stride + (slot & ((1 << pages.bits) - 1)) * rows.slot_stride;
}

} // namespace gyre
