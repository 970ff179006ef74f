#include "attention/merge/check.h"

#include "attention/check/check.h"
#include "core/arguments.h"
#include "core/overlap.h"

#include <algorithm>

namespace gyre {
namespace {

gyre_status check_part_stride(int64_t stride, const char *name, int32_t parts, const gyre_tensor &part) {
    if (stride < 0) return refuse(GYRE_BAD_ARGUMENT, name, "got %lld, expected >= 0", static_cast<long long>(stride));
    const int64_t last = reach(parts, stride);
    if (last <= most_elements && in_address_space(part, last)) return GYRE_OK;
    return refuse(GYRE_BAD_ARGUMENT, name, "got %lld for %d parts, which overflows the address space",
                  static_cast<long long>(stride), parts);
}

gyre_status check_overlap(const gyre_attention_merge_args &a, const MergeTask &t) {
    const Heads lse = t.merged.lse.as_heads(t.merged.out);
    const auto check = [&](Heads part, int64_t stride, const char *name) -> gyre_status {
        const int32_t places = part.empty() ? 0 : stride ? a.parts : std::min(a.parts, 1); // where parts are
        for (int p = 0; p < places; p++) {
            if (p > 0) part.data += stride * static_cast<int64_t>(element_size(part.dtype));
            for (const Heads *written : {&t.merged.out, &lse})
                if (written->data && !disjoint(part, *written))
                    return refuse(GYRE_BAD_ARGUMENT, written == &lse ? "lse" : "out",
                                  "overlaps %s of part %d, expected other memory", name, p);
        }
        return GYRE_OK;
    };
    GYRE_TRY(check(t.parts.out, t.out_part_stride, "part_out"));
    GYRE_TRY(check(t.parts.lse.as_heads(t.parts.out), t.lse_part_stride, "part_lse"));
    if (lse.data && !disjoint(lse, t.merged.out))
        return refuse(GYRE_BAD_ARGUMENT, "lse", "overlaps out, expected other memory");
    return GYRE_OK;
}

} // namespace

gyre_status check_merge(const gyre_attention_merge_args &a, bool need_data, MergeTask *task) {
    MergeTask &t = *task;
    GYRE_TRY(check_layout(a.layout));
    if (a.parts < 0) return refuse(GYRE_BAD_ARGUMENT, "parts", "got %d, expected >= 0", a.parts);
    const bool need_parts = need_data && a.parts > 0;
    GYRE_TRY(view_heads(a.part_out, "part_out", a.layout, {GYRE_F32, GYRE_F16, GYRE_BF16}, need_parts, &t.parts.out));
    GYRE_TRY(check_part_stride(a.part_out_stride, "part_out_stride", a.parts, a.part_out));
    GYRE_TRY(view_lse(a.part_lse, "part_lse", a.layout, t.parts.out, need_parts, &t.parts.lse));
    GYRE_TRY(check_part_stride(a.part_lse_stride, "part_lse_stride", a.parts, a.part_lse));
    GYRE_TRY(view_heads(a.out, "out", a.layout, {GYRE_F32, GYRE_F16, GYRE_BF16}, need_data, &t.merged.out));
    if (a.part_out.dtype != GYRE_F32 && a.out.dtype != a.part_out.dtype)
        return refuse(GYRE_BAD_TYPE, "out", "got %s, expected part_out's %s", dtype_name(a.out.dtype),
                      dtype_name(a.part_out.dtype));
    if (!std::equal(a.part_out.shape, a.part_out.shape + a.part_out.rank, a.out.shape))
        return refuse(GYRE_BAD_SHAPE, "out", "got shape %s, expected part_out's %s",
                      shape_text(a.out.shape, a.out.rank), shape_text(a.part_out.shape, a.part_out.rank));
    if (const int64_t dim = t.merged.out.dim; dim < 1 || dim > largest_head_dim)
        return refuse(dim < 1 ? GYRE_BAD_SHAPE : GYRE_UNSUPPORTED, "part_out", "got head size %lld, expected 1 .. %lld",
                      static_cast<long long>(dim), static_cast<long long>(largest_head_dim));
    if (a.lse) GYRE_TRY(view_lse(*a.lse, "lse", a.layout, t.merged.out, need_data, &t.merged.lse));
    t.out_part_stride = a.parts > 1 ? a.part_out_stride : 0;
    t.lse_part_stride = a.parts > 1 ? a.part_lse_stride : 0;
    if (!writable(t.merged.out)) return refuse(GYRE_BAD_SHAPE, "out", "strides make elements share memory");
    if (a.lse && !writable(t.merged.lse.as_heads(t.merged.out)))
        return refuse(GYRE_BAD_SHAPE, "lse", "strides make elements share memory");
    return need_data ? check_overlap(a, t) : GYRE_OK;
}

} // namespace gyre
