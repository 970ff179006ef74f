// Rows that are gathered from pages.
#include "cuda/driver/tensors.h"
#include "cuda/rows/dense.h"
#include "cuda/rows/slots.h"

namespace gyre::cuda {

gyre_status DenseRows::prepare(const gyre_context &context, const Heads &given, const Rotated &how,
                               const SourcePages &of, int64_t dim, gyre_dtype dtype) {
    const bool narrow = given.dtype != dtype;
    const Rotation none;
    const RotaryKernel *of_pages = find_row_writer(context, given.dtype, given.dtype, narrow ? none : how.by, true);
    if (!of_pages)
        return refuse(GYRE_UNSUPPORTED, "page_table", "no linked kernel of a CUDA device copies or rotates %s in pages",
                      dtype_name(given.dtype));
    if (narrow) {
        const Heads gathered = dense_like(given, given.dtype, given.dim);
        GYRE_TRY(check_dense_reach(gathered, "page_table"));
        GYRE_TRY(prepare(context, gathered, how, "page_table", dim, dtype));
    } else {
        from = given;
        rotated = how;
        kernel = nullptr;
        converter = nullptr;
        rows = dense_like(from, dtype, dim);
        GYRE_TRY(check_dense_reach(rows, "page_table"));
    }
    gatherer = of_pages;
    pages = of;
    is_gathered_first = narrow;
    return GYRE_OK;
}

gyre_status DenseRows::gather(gyre_context &context, const Scope &scope, const Rotation &by, const Heads &to,
                              gyre_context::Frequencies &cache) const {
    const int64_t at_once = in_reach(to, to.batch) ? to.batch : 1;
    TokenAngles angles;
    GYRE_TRY(angles.prepare(by, rotated.rope, cache));
    for (int64_t first = 0; first < to.batch; first += at_once) {
        GYRE_TRY(angles.place(rotated.positions, rotated.rope, first, 0, at_once, to.seqlen));
        SlotLists lists;
        lists.held = pages.used ? pages.used + first : nullptr;
        lists.sequences = at_once;
        lists.table = pages.table + first * pages.stride;
        lists.table_pages = to.seqlen >> pages.bits;
        lists.table_stride = pages.stride;
        lists.page_bits = pages.bits;
        lists.from_pages = true;
        lists.capacity = to.seqlen;
        SlotTensors tensors{pages.pool, to, at_once, to.seqlen};
        tensors.to.data = to.at(first, 0, 0);
        tensors.to.batch = at_once;
        GYRE_TRY(write_slots(context, scope, *gatherer, by, &angles, lists, tensors));
    }
    return GYRE_OK;
}

} // namespace gyre::cuda
