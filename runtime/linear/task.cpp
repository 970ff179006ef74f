#include "linear/task.h"

#include <algorithm>
#include <cstring>

namespace gyre {
namespace {

void clear_floats(float *first, int64_t count) {
    if (count > 0) std::memset(first, 0, static_cast<size_t>(count) * sizeof(float));
}

void copy_floats(const void *from, int64_t count, void *to) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
}

bool attend(const LinearRun &r, int64_t first, int64_t count, bool causal) {
    const RowKernels &k = r.kernels;
    if (causal && !k.form_panels(r.rows(r.m.k_rotated), count, r.m.panels)) return false;
    const Rows sums = causal ? r.rows(r.m.sums) : Rows{r.k_state(), 0};
    for (int64_t g = 0; g < r.group; g++) {
        r.clear(r.m.rows, 0, r.whole_tiles(count));
        if (!r.load_queries(g, first, count) ||
            !k.attend(r.rows(r.m.q_rotated), causal ? r.m.panels : nullptr, r.rows(r.m.v), r.kv_state(), count,
                      r.rows(r.m.rows)) ||
            !k.divide(r.rows(r.m.q), sums, r.rows(r.m.rows), count, r.m.dots, r.queries(r.c.out, g, first)))
            return false;
    }
    return true;
}

} // namespace

LinearRun::LinearRun(const LinearTask &task, const LinearSizes &sizes, int64_t index, int64_t first_head, char *memory)
    : task(task), call(task.call), c(task.call.heads), z(sizes), m(sizes, memory),
      kernels(task.kernels, sizes.features, m.scratch), s(task.call.sequence(index)), index(index),
      first_head(first_head), group(c.sharing()), kv_head(first_head) {}

void LinearRun::clear(float *memory, int64_t first, int64_t past) const {
    clear_floats(memory + first * z.stride, (past - first) * z.stride);
}

void LinearRun::clear_padding() const {
    std::fill_n(m.ones, z.chunk, 1.0f);
    const int64_t used = std::min(z.chunk, whole_tiles(std::max(s.q_len, s.k_len)));
    if (c.q.dim < z.features)
        for (float *rows : {m.k, m.k_rotated, m.q, m.q_rotated}) clear(rows, 0, used);
    if (c.v.dim < z.features) clear(m.v, 0, used);
}

void LinearRun::load_state(const LinearState &from, float *kv, float *k) const {
    const bool given = from.kv.data != nullptr;
    const int64_t dim = given ? c.q.dim : 0;
    for (int64_t d = 0; d < dim; d++) {
        copy_floats(from.kv.at(index, d, kv_head), c.v.dim, kv + d * z.stride);
        clear_floats(kv + d * z.stride + c.v.dim, z.features - c.v.dim);
    }
    clear(kv, dim, z.features);
    if (given) copy_floats(from.k.at(index, 0, kv_head), dim, k);
    clear_floats(k + dim, z.features - dim);
}

void LinearRun::store_state(const float *kv, const float *k, const LinearState &to) const {
    if (!to.kv.data) return;
    for (int64_t d = 0; d < c.q.dim; d++) copy_floats(kv + d * z.stride, c.v.dim, to.kv.at(index, d, kv_head));
    copy_floats(k, c.q.dim, to.k.at(index, 0, kv_head));
}

bool LinearRun::load_queries(int64_t g, int64_t first, int64_t count, int64_t base) const {
    float *const q = m.q + base * z.stride, *const rotated = m.q_rotated + base * z.stride;
    if (!kernels.map(queries(c.q, g, first), count, q)) return false;
    return !c.rope.on || kernels.rotate(q, rotated, count, c.q.dim, c.rope, query_angles(first), +1);
}

bool LinearRun::load_keys(int64_t first, int64_t count, int64_t cleared, int64_t base) const {
    for (float *rows : {m.k, m.k_rotated, m.v}) clear(rows, base + count, base + count + cleared);
    if (count == 0) return true;
    float *const k = m.k + base * z.stride, *const rotated = m.k_rotated + base * z.stride;
    if (!kernels.map(keys(c.k, first), count, k) || !kernels.load(keys(c.v, first), count, m.v + base * z.stride))
        return false;
    return !c.rope.on || kernels.rotate(k, rotated, count, c.q.dim, c.rope, key_angles(first), +1);
}

bool LinearRun::sum_keys(int64_t count) const {
    if (!kernels.sum(rows(m.k), {m.ones}, {k_state(), 0}, count, rows(m.sums))) return false;
    copy_floats(m.sums + (count - 1) * z.stride, z.features, k_state());
    return true;
}

LinearSizes LinearTask::sizes(bool backward) const {
    const AttentionCall &c = call.heads;
    LinearSizes z;
    z.features = ceil_div(std::max(c.q.dim, c.v.dim), kernels.features_multiple) * kernels.features_multiple;
    z.stride = RowKernels::stride(z.features);
    z.chunk = kernels.chunk;
    z.heads = heads;
    z.rotated = c.rope.on;
    z.backward = backward;
    if (backward && call.causal) z.kept_rows = c.rows(c.q.seqlen);
    z.workspace = kernels.workspace();
    return z;
}

bool LinearTask::run(int64_t sequence, int64_t first_head, char *memory) const {
    LinearRun r(*this, sizes(false), sequence, first_head, memory);
    const auto each_head = [&](const auto &work) {
        for (r.kv_head = first_head; r.kv_head < r.past_head(); r.kv_head++)
            if (!work()) return false;
        return true;
    };
    r.clear_padding();
    each_head([&] { return r.load_state(call.before, r.kv_state(), r.k_state()), true; });
    const int64_t length = call.causal ? r.s.q_len : r.s.k_len;
    for (int64_t first = 0; first < length; first += r.z.chunk) {
        const int64_t count = std::min(r.z.chunk, length - first);
        const int64_t keys = std::clamp<int64_t>(r.s.k_len - first, 0, count);
        const bool ok = each_head([&] {
            return r.load_keys(first, keys, r.whole_tiles(count) - keys) && r.sum_keys(count) &&
                   (!call.causal || attend(r, first, count, true)) &&
                   r.kernels.add(r.rows(r.m.k_rotated), r.rows(r.m.v), keys, r.kv_state());
        });
        if (!ok) return false;
    }
    for (int64_t first = 0; !call.causal && first < r.s.q_len; first += r.z.chunk) {
        const int64_t count = std::min(r.z.chunk, r.s.q_len - first);
        if (!each_head([&] { return attend(r, first, count, false); })) return false;
    }
    return each_head([&] { return r.store_state(r.kv_state(), r.k_state(), call.after), true; });
}

} // namespace gyre
