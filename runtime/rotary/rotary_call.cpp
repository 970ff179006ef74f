#include "rotary/rotary_call.h"

#include "core/kernel_call.h"
#include "core/overlap.h"
#include "rotary/rotary_kernel.h"
#include "rotary/tensors.h"

#include <algorithm>

namespace gyre {

gyre_status RotaryCall::add(const gyre_tensor &from, const char *from_name, const gyre_tensor &to, const char *to_name,
                            gyre_layout layout, bool need_data) {
    GYRE_TRY(check_layout(layout));
    RotatedTensor t;
    t.from_name = from_name;
    t.to_name = to_name;
    if (count == 0)
        GYRE_TRY(view_heads(from, from_name, layout, {GYRE_F32, GYRE_F16, GYRE_BF16}, need_data, &t.from));
    else
        GYRE_TRY(view_heads(from, from_name, layout, {tensors[0].from.dtype}, need_data, &t.from));
    GYRE_TRY(view_heads(to, to_name, layout, {from.dtype}, need_data, &t.to));
    if (!std::equal(from.shape, from.shape + from.rank, to.shape))
        return refuse(GYRE_BAD_SHAPE, to_name, "got shape %s, expected %s's %s", shape_text(to.shape, to.rank),
                      from_name, shape_text(from.shape, from.rank));
    const Heads &x = t.from;
    const Heads &first = tensors[0].from;
    if (count > 0 && (x.batch != first.batch || x.seqlen != first.seqlen || x.dim != first.dim))
        return refuse(GYRE_BAD_SHAPE, from_name, "got shape %s, expected %s's but for the number of heads",
                      shape_text(from.shape, from.rank), tensors[0].from_name);
    if (!writable(t.to)) return refuse(GYRE_BAD_SHAPE, to_name, "strides make elements share memory");
    t.in_place = x.data == t.to.data;
    if (need_data && !same_or_disjoint(x, t.to))
        return refuse(GYRE_BAD_ARGUMENT, to_name,
                      "overlaps %s without being %s, expected the same view or other memory", from_name, from_name);
    for (const Heads *view : {&t.from, &t.to})
        if (!fits_run(*view, view->seqlen))
            return refuse(GYRE_UNSUPPORTED, view == &t.from ? from_name : to_name,
                          "strides reach over 2^31 elements within %lld tokens", static_cast<long long>(run_tokens));
    for (int i = 0; need_data && i < count; i++) {
        const RotatedTensor &other = tensors[i];
        for (const auto &[written, name] : {std::pair(&t.to, to_name), std::pair(&t.from, from_name)})
            if (!disjoint(*written, other.to))
                return refuse(GYRE_BAD_ARGUMENT, name, "overlaps %s, expected other memory", other.to_name);
        if (!disjoint(t.to, other.from))
            return refuse(GYRE_BAD_ARGUMENT, to_name, "overlaps %s, expected other memory", other.from_name);
    }
    tensors[count++] = t;
    return GYRE_OK;
}

gyre_status RotaryCall::check(const RotaryOptions &o, bool need_data, bool read_lists) {
    const Heads &x = tensors[0].from;
    GYRE_TRY(check_flag(o.reverse, "reverse"));
    GYRE_TRY(check_rope(&o.rope, "rope", x.dim, x.batch, x.seqlen, need_data, &rotation));
    if (o.position_offset < 0)
        return refuse(GYRE_BAD_ARGUMENT, "position_offset", "got %lld, expected >= 0",
                      static_cast<long long>(o.position_offset));
    if (o.positions && o.position_offset)
        return refuse(GYRE_BAD_ARGUMENT, "position_offset", "got %lld beside positions, expected 0",
                      static_cast<long long>(o.position_offset));
    direction = o.reverse ? -1.0f : 1.0f;
    if (rotation.per_token) return GYRE_OK;
    // A device's kernels read nothing by positions but tables, and within these.
    return check_positions(o.positions, o.positions ? "positions" : "position_offset", rotation.axes, x.batch, x.seqlen,
                           o.position_offset, rotation.position_limit(), need_data && read_lists, &positions);
}

gyre_status check_rotary(const gyre_rotary_args &a, bool need_data, RotaryCall *call, bool read_lists) {
    GYRE_TRY(call->add(a.x, "x", a.out, "out", a.layout, need_data));
    GYRE_TRY(call->check({a.rope, a.reverse, a.positions, a.position_offset}, need_data, read_lists));
    if (!need_data || !read_lists) return GYRE_OK;
    return check_reads_apart(a, {{&call->tensors[0].to, "out"}}, call->positions.given ? nullptr : a.positions);
}

gyre_status check_rotary(const gyre_rotary_qk_args &a, bool need_data, RotaryCall *call, bool read_lists) {
    GYRE_TRY(call->add(a.q, "q", a.q_out, "q_out", a.layout, need_data));
    GYRE_TRY(call->add(a.k, "k", a.k_out, "k_out", a.layout, need_data));
    GYRE_TRY(call->check({a.rope, a.reverse, a.positions, a.position_offset}, need_data, read_lists));
    if (!need_data || !read_lists) return GYRE_OK;
    return check_reads_apart(a, {{&call->tensors[0].to, "q_out"}, {&call->tensors[1].to, "k_out"}},
                             call->positions.given ? nullptr : a.positions);
}

} // namespace gyre
