#include "linear/backward_task.h"

#include <algorithm>
#include <cstring>

namespace gyre {
namespace {

/// Works on rows of a chunk; against the order of tokens these end where the memory of a chunk ends, so that what is read
/// beyond the first token is still there.
class Backward : public LinearRun {
public:
    Backward(const LinearBackwardTask &task, const LinearSizes &sizes, int64_t index, int64_t kv_head, char *memory)
        : LinearRun(task.forward, sizes, index, kv_head, memory), grads(task.call) {}

    bool run() {
        clear_padding();
        if (c.v.dim < z.features) clear(m.out_grad, 0, z.chunk);
        for (float *rows : {m.q, m.q_rotated, m.k, m.k_rotated})
            if (c.q.dim < z.features) clear(rows, 0, z.chunk);
        if (c.v.dim < z.features) clear(m.v, 0, z.chunk);
        load_state(call.before, m.kv_states, m.k_states);
        transpose(m.kv_states, m.q_state); // not used yet
        std::swap_ranges(m.kv_states, m.kv_states + z.features * z.stride, m.q_state);
        load_state(grads.after_grad, m.q_state, m.q_sum);
        transpose(m.q_state, m.q_state_transposed);
        negate(m.q_sum);
        const bool ok = call.causal ? run_causal() : run_full();
        negate(m.q_sum);
        store_state(m.q_state, m.q_sum, grads.before_grad);
        clear_unused_keys();
        return ok;
    }

private:
    const LinearBackwardCall &grads;

    int64_t past(int64_t first, int64_t length) const { return std::min(z.chunk, length - first); }
    int64_t kept(int64_t g, int64_t first) const { return g * s.q_len + first; }

    void transpose(const float *from, float *to) const {
        for (int64_t row = 0; row < z.features; row++)
            for (int64_t column = 0; column < z.features; column++)
                to[column * z.stride + row] = from[row * z.stride + column];
    }
    void negate(float *row) const {
        for (int64_t d = 0; d < z.features; d++) row[d] = -row[d];
    }
    /// The last of running sums becomes what the next ones begin with.
    void keep_sum(const float *row, float *sum) const {
        std::memcpy(sum, row, static_cast<size_t>(z.features) * sizeof(float));
    }

    bool run_causal() const;
    bool run_full() const;
    bool form_query_gradients(int64_t g, int64_t first, int64_t count, bool causal, float *divided, float *delta) const;
    bool add_queries(const float *q, const float *divided, int64_t count) const;
    bool store_keys(const float *k_grad, const float *v_grad, Rows sums, int64_t first, int64_t count) const;
    bool form_key_gradients(int64_t first, int64_t count) const;
    void clear_unused_keys() const;
};

/// Forms the gradients of one head's queries, their divided gradients n and their delta. The keys are those of the chunk,
/// whose values are in panels, and of the state.
bool Backward::form_query_gradients(int64_t g, int64_t first, int64_t count, bool causal, float *divided,
                                    float *delta) const {
    const Rows q = rows(m.q), sums = causal ? rows(m.sums) : Rows{m.k_states, 0}, gradient = rows(m.rows);
    clear(m.rows, 0, whole_tiles(count));
    return load_queries(g, first, count) && kernels.load(queries(grads.out_grad, g, first), count, m.out_grad) &&
           kernels.divide(q, sums, rows(m.out_grad), z.features, count, m.dots, rows(divided)) &&
           kernels.attend(rows(divided), causal ? m.panels : nullptr, rows(m.k_rotated), m.kv_states, count,
                          gradient) &&
           kernels.divide(rows(m.q_rotated), gradient, gradient, 0, count, m.other_dots, gradient) &&
           kernels.divide(q, sums, {m.other_dots, 1}, 1, count, m.dots, {delta, 1}) &&
           (!c.rope.on || kernels.rotate(m.rows, m.rows, count, c.q.dim, c.rope, query_angles(first), -1)) &&
           kernels.store_gradient(queries(c.q, g, first), m.rows, {delta}, sums, count,
                                  queries(grads.q_grad, g, first));
}

bool Backward::add_queries(const float *q, const float *divided, int64_t count) const {
    const Rows features = rows(const_cast<float *>(q)), gradients = rows(const_cast<float *>(divided));
    return kernels.add(features, gradients, count, m.q_state) &&
           kernels.add(gradients, features, count, m.q_state_transposed);
}

bool Backward::store_keys(const float *k_grad, const float *v_grad, Rows sums, int64_t first, int64_t count) const {
    float *const rotated = const_cast<float *>(k_grad);
    if (count == 0) return true;
    return (!c.rope.on || kernels.rotate(rotated, rotated, count, c.q.dim, c.rope, key_angles(first), -1)) &&
           kernels.store_gradient(keys(c.k, first), rotated, {m.ones}, sums, count, keys(grads.k_grad, first)) &&
           kernels.store(v_grad, count, keys(grads.v_grad, first));
}

/// Forms the gradients of a causal chunk's keys, against the order of tokens.
bool Backward::form_key_gradients(int64_t first, int64_t count) const {
    const int64_t base = z.chunk - count, tail = z.chunk - whole_tiles(count);
    const int64_t known = std::clamp<int64_t>(s.k_len - first, 0, count);
    const auto at = [&](float *memory) { return memory + base * z.stride; };
    const auto against = [&](float *memory) { return Rows{memory + (z.chunk - 1) * z.stride, -z.stride}; };
    if (!load_keys(first, known, count - known, base)) return false;
    for (float *rows : {m.k_rotated, m.v, m.q_rotated, m.out_grad}) clear(rows, tail, base);
    for (float *rows : {m.k_grad, m.v_grad}) clear(rows, tail, z.chunk);
    float *sums = m.sums, *other_sums = m.other_sums;
    for (int64_t g = 0; g < group; g++) {
        const bool first_of_all = g == 0; // the state stands for all heads' queries
        std::memcpy(at(m.out_grad), m.kept_grads + kept(g, first) * z.stride,
                    static_cast<size_t>(count * z.stride) * sizeof(float));
        const RowNumbers weights{m.kept_weights + kept(g, first) + count - 1, -1};
        const Rows q = against(m.q_rotated), gradients = against(m.out_grad);
        const bool ok = load_queries(g, first, count, base) && kernels.form_panels(gradients, count, m.panels) &&
                        kernels.attend(against(m.v), m.panels, q, first_of_all ? m.q_state_transposed : nullptr, count,
                                       against(m.k_grad)) &&
                        kernels.form_panels(q, count, m.panels) &&
                        kernels.attend(against(m.k_rotated), m.panels, gradients, first_of_all ? m.q_state : nullptr,
                                       count, against(m.v_grad)) &&
                        kernels.sum(against(m.q), weights, first_of_all ? Rows{m.q_sum, 0} : against(other_sums), count,
                                    against(sums)) &&
                        add_queries(at(m.q_rotated), at(m.out_grad), count);
        if (!ok) return false;
        std::swap(sums, other_sums);
    }
    if (group == 0) return store_keys(at(m.k_grad), at(m.v_grad), {m.q_sum, 0}, first, known);
    keep_sum(at(other_sums), m.q_sum);
    return store_keys(at(m.k_grad), at(m.v_grad), rows(at(other_sums)), first, known);
}

bool Backward::run_causal() const {
    for (int64_t first = 0; first < s.q_len; first += z.chunk) {
        const int64_t count = past(first, s.q_len), known = std::clamp<int64_t>(s.k_len - first, 0, count);
        if (!load_keys(first, known, whole_tiles(count) - known) || !sum_keys(count) ||
            !kernels.form_panels(rows(m.v), count, m.panels))
            return false;
        for (int64_t g = 0; g < group; g++)
            if (!form_query_gradients(g, first, count, true, m.kept_grads + kept(g, first) * z.stride,
                                      m.kept_weights + kept(g, first)))
                return false;
        if (!kernels.add(rows(m.v), rows(m.k_rotated), known, m.kv_states)) return false;
    }
    for (int64_t first = (s.q_len - 1) / z.chunk * z.chunk; s.q_len > 0 && first >= 0; first -= z.chunk)
        if (!form_key_gradients(first, past(first, s.q_len))) return false;
    return true;
}

bool Backward::run_full() const {
    for (int64_t first = 0; first < s.k_len; first += z.chunk) {
        const int64_t count = past(first, s.k_len);
        if (!load_keys(first, count, 0) || !sum_keys(count) ||
            !kernels.add(rows(m.v), rows(m.k_rotated), count, m.kv_states))
            return false;
    }
    for (int64_t first = 0; first < s.q_len; first += z.chunk)
        for (int64_t g = 0; g < group; g++) {
            const int64_t count = past(first, s.q_len);
            if (!form_query_gradients(g, first, count, false, m.v_grad, m.kept_weights) ||
                !kernels.sum(rows(m.q), {m.kept_weights}, {m.q_sum, 0}, count, rows(m.sums)) ||
                !add_queries(m.q_rotated, m.v_grad, count))
                return false;
            keep_sum(m.sums + (count - 1) * z.stride, m.q_sum);
        }
    for (int64_t first = 0; first < s.k_len; first += z.chunk) {
        const int64_t count = past(first, s.k_len);
        for (float *rows : {m.k_grad, m.v_grad}) clear(rows, 0, whole_tiles(count));
        if (!load_keys(first, count, 0) ||
            !kernels.attend(rows(m.v), nullptr, rows(m.q), m.q_state_transposed, count, rows(m.k_grad)) ||
            !kernels.attend(rows(m.k_rotated), nullptr, rows(m.q), m.q_state, count, rows(m.v_grad)) ||
            !store_keys(m.k_grad, m.v_grad, {m.q_sum, 0}, first, count))
            return false;
    }
    return true;
}

/// Keys that a sequence has room for, but does not use, have no influence.
void Backward::clear_unused_keys() const {
    const int64_t room = c.packed_keys ? c.cu_seqlens_k[index + 1] - c.cu_seqlens_k[index] : c.k.seqlen;
    for (const Heads *grad : {&grads.k_grad, &grads.v_grad})
        for (int64_t token = s.k_len; token < room; token++)
            std::memset(grad->at(s.batch, s.k_first + token, kv_head), 0,
                        static_cast<size_t>(grad->dim) * element_size(grad->dtype));
}

} // namespace

bool LinearBackwardTask::run(int64_t sequence, int64_t kv_head, char *memory) const {
    return Backward(*this, forward.sizes(true), sequence, kv_head, memory).run();
}

} // namespace gyre
