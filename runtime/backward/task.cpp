#include "backward/task.h"

#include "backward/general_block_arguments.h"
#include "backward/rounding.h"
#include "core/argument_tables.h"
#include "core/kernel_arguments.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace gyre {
namespace {

constexpr int64_t cache_line_floats = 16;
constexpr int64_t unbounded = 1 << 29; // beyond every row and key, and sums with rows stay in 32 bits

int64_t round_to(int64_t n, int64_t multiple) { return ceil_div(n, multiple) * multiple; }
int32_t clamp_index(int64_t i) { return static_cast<int32_t>(std::clamp(i, -unbounded, unbounded)); }

/// Tokens of one head of one tensor, and the angles that they are rotated by.
struct Run {
    const Heads &heads;
    int64_t batch, token, head, count;
    const Rotation &rotation;
    const float *angles; // nullptr: they are not rotated
};

/// The run of one sequence and kv head, with what its parts share.
class Runner {
public:
    Runner(const BackwardTask &task, int64_t index, int64_t kv_head, char *memory)
        : task(task), c(task.call.forward), s(c.sequence(index)), index(index), kv_head(kv_head), z(task.sizes()),
          m(z, memory) {}

    bool run() {
        bool ok = load_queries();
        for (int64_t first = 0; ok && first < s.k_len; first += z.keys) ok = run_keys(first);
        for (int64_t g = 0; ok && g < z.group; g++) ok = store_queries(g);
        clear_unused_keys();
        return ok;
    }

private:
    const BackwardTask &task;
    const AttentionCall &c;
    const Sequence s;
    const int64_t index, kv_head;
    const BackwardSizes z;
    const BackwardMemory m;

    const BlockKernel &blocks() const { return *task.kernels.blocks; }
    int64_t head(int64_t g) const { return kv_head * z.group + g; }

    const float *angles(const AngleTable *table, int64_t token) const {
        return table ? table->row(s, index, token) : nullptr;
    }
    Run rows_run(const Heads &of, int64_t g, int64_t first, int64_t count, const Rotation &r,
                 const AngleTable *t) const {
        return {of, s.batch, s.q_first + first, head(g), count, r, angles(t, first)};
    }
    Run keys_run(const Heads &of, int64_t first, int64_t count, const Rotation &r, const AngleTable *t) const {
        return {of, s.batch, s.k_first + first, kv_head, count, r, angles(t, first)};
    }
    Run query_run(const Heads &of, int64_t g, int64_t first, int64_t count) const {
        return rows_run(of, g, first, count, c.rope, task.angles.queries());
    }
    Run output_run(const Heads &of, int64_t g, int64_t first, int64_t count) const {
        return rows_run(of, g, first, count, c.value_rope, task.angles.results());
    }
    Run key_run(const Heads &of, int64_t first, int64_t count) const {
        return keys_run(of, first, count, c.rope, task.angles.keys());
    }
    Run value_run(const Heads &of, int64_t first, int64_t count) const {
        return keys_run(of, first, count, c.value_rope, task.angles.values());
    }

    static TokenRun in_tensor(const Run &r) {
        TokenRun run(r.heads, r.batch, r.token);
        run.data = r.heads.at(r.batch, r.token, r.head);
        return run;
    }
    TokenRun in_rows(float *rows) const {
        return TokenRun({reinterpret_cast<char *>(rows), GYRE_F32, 1, 1, 1, z.features, 0, z.stride, 0}, 0, 0);
    }
    static HeadRotation rotation(const Run &r, const RotaryKernel *const (&by_pairing)[2], float direction) {
        return {by_pairing[r.angles ? r.rotation.pairing : GYRE_HALF], 0, r.angles ? r.rotation.pairs : 0, direction,
                false};
    }
    /// Rotated rows in f32, padded with zeros.
    bool load(const Run &r, float *rows) const {
        if (r.heads.dim < z.features) std::memset(rows, 0, static_cast<size_t>(r.count * z.stride) * sizeof(float));
        return rotation(r, task.kernels.load, +1)
            .run(in_tensor(r), in_rows(rows), r.count, 1, r.heads.dim, r.angles, m.scratch);
    }
    /// Rotated queries, keys and values as the forward pass multiplied them, so that probabilities follow from its lse.
    bool load_operand(const Run &r, float *rows) const {
        const bool ok = load(r, rows);
        if (ok && r.angles && task.rounds_rotated) round_to_bf16(rows, r.count * z.stride);
        return ok;
    }
    /// The gradient of what was rotated, rotated back.
    bool store(float *rows, const Run &r) const {
        return rotation(r, task.kernels.store, -1)
            .run(in_rows(rows), in_tensor(r), r.count, 1, r.heads.dim, r.angles, m.scratch);
    }

    bool load_queries() const;
    bool load_statistics(int64_t g, int64_t first, int64_t count) const;
    bool store_queries(int64_t g) const;
    bool run_keys(int64_t first) const;
    bool form_panels(const float *rows, float *panels) const;
    bool add_block(int64_t g, int64_t first_row, int64_t first_key) const;
    void clear_unused_keys() const;
};

bool Runner::load_queries() const {
    for (int64_t g = 0; g < z.group; g++) {
        const int64_t rows = round_to(s.q_len, blocks().rows);
        float *const q = m.q + g * z.rows * z.stride, *const out_grad = m.out_grad + g * z.rows * z.stride;
        std::memset(m.q_grad + g * z.rows * z.stride, 0, static_cast<size_t>(rows * z.stride) * sizeof(float));
        for (float *padded : {q, out_grad}) // rows past the end
            std::memset(padded + s.q_len * z.stride, 0,
                        static_cast<size_t>((rows - s.q_len) * z.stride) * sizeof(float));
        for (float *padded : {m.delta, m.power}) std::fill_n(padded + g * z.rows + s.q_len, rows - s.q_len, 0.0f);
        for (int64_t first = 0; first < s.q_len; first += z.run) {
            const int64_t count = std::min(z.run, s.q_len - first);
            if (!load_operand(query_run(c.q, g, first, count), q + first * z.stride) ||
                !load(output_run(task.call.out_grad, g, first, count), out_grad + first * z.stride) ||
                !load_statistics(g, first, count))
                return false;
        }
    }
    return true;
}

/// delta is the product of the result and its gradient as they are stored. Rotated ones have the same product only where a
/// rotation keeps lengths, which a caller's tables need not.
bool Runner::load_statistics(int64_t g, int64_t first, int64_t count) const {
    const int64_t row = g * z.rows + first;
    const auto stored_run = [&](const Heads &of) { return rows_run(of, g, first, count, c.value_rope, nullptr); };
    float *stored_grad = m.out_grad + row * z.stride;
    if (c.value_rope.on) {
        stored_grad = m.stored_grad;
        if (!load(stored_run(task.call.out_grad), stored_grad)) return false;
    }
    if (!load(stored_run(c.out), m.out)) return false;
    const halide_type_t f32 = halide_type(GYRE_F32);
    Buffer out(m.out, f32, {{z.features, 1}, {count, z.stride}});
    Buffer out_grad(stored_grad, f32, {{z.features, 1}, {count, z.stride}});
    Buffer lse(c.lse.at(s.batch, s.q_first + first, head(g)), f32, {{count, 1}});
    Buffer delta(m.delta + row, f32, {{count, 1}}), power(m.power + row, f32, {{count, 1}});
    using A = DeltaArguments;
    KernelArguments<A> arguments;
    arguments[A::out] = &out;
    arguments[A::out_grad] = &out_grad;
    arguments[A::lse] = &lse;
    arguments[A::delta] = &delta;
    arguments[A::power] = &power;
    Slab slab(m.scratch, task.kernels.delta->workspace);
    return arguments.call(*task.kernels.delta->kernel, slab);
}

bool Runner::store_queries(int64_t g) const {
    for (int64_t first = 0; first < s.q_len; first += z.run) {
        const int64_t count = std::min(z.run, s.q_len - first);
        if (!store(m.q_grad + (g * z.rows + first) * z.stride, query_run(task.call.q_grad, g, first, count)))
            return false;
    }
    return true;
}

bool Runner::form_panels(const float *rows, float *panels) const {
    const halide_type_t f32 = halide_type(GYRE_F32);
    const int64_t lanes = blocks().key_lanes, count = z.keys / lanes;
    Buffer x(rows, f32, {{z.features, 1}, {lanes, z.stride}, {count, lanes * z.stride}});
    Buffer out(panels, f32, {{lanes, 1}, {z.features, lanes}, {count, z.features * lanes}});
    KernelArguments<PanelsArguments> arguments;
    arguments[PanelsArguments::x] = &x;
    arguments[PanelsArguments::out] = &out;
    Slab slab(m.scratch, task.kernels.panels->workspace);
    return arguments.call(*task.kernels.panels->kernel, slab);
}

bool Runner::run_keys(int64_t first) const {
    const int64_t count = std::min(z.keys, s.k_len - first);
    for (float *rows : {m.k_grad, m.v_grad})
        std::memset(rows, 0, static_cast<size_t>(z.keys * z.stride) * sizeof(float));
    for (float *rows : {m.k, m.v}) // keys past the end
        std::memset(rows + count * z.stride, 0, static_cast<size_t>((z.keys - count) * z.stride) * sizeof(float));
    if (!load_operand(key_run(c.k, first, count), m.k) || !load_operand(value_run(c.v, first, count), m.v))
        return false;
    if (!form_panels(m.k, m.k_panels) || !form_panels(m.v, m.v_panels)) return false;
    for (int64_t g = 0; g < z.group; g++)
        for (int64_t row = 0; row < s.q_len; row += blocks().rows)
            if (!add_block(g, row, first)) return false;
    return store(m.k_grad, key_run(task.call.k_grad, first, count)) &&
           store(m.v_grad, value_run(task.call.v_grad, first, count));
}

/// Nothing, if no row sees a key of the block.
bool Runner::add_block(int64_t g, int64_t first_row, int64_t first_key) const {
    const BlockKernel &b = blocks();
    const auto rows = static_cast<int32_t>(std::min(b.rows, s.q_len - first_row));
    const auto keys = static_cast<int32_t>(std::min(b.keys, s.k_len - first_key));
    const int64_t distance = first_key - first_row - c.shift(s); // pos_k - pos_q of the first ones
    if (c.right >= 0 && distance > c.right + rows - 1) return true;
    if (c.left >= 0 && -distance > c.left + keys - 1) return true;

    const halide_type_t f32 = halide_type(GYRE_F32);
    const int64_t tile = b.tile, row = g * z.rows + first_row;
    const auto tiled = [&](float *data, int64_t extent) {
        return Buffer(data, f32, {{z.features, 1}, {tile, z.stride}, {extent / tile, tile * z.stride}});
    };
    const auto panels = [&](float *data) {
        return Buffer(data, f32,
                      {{b.key_lanes, 1}, {z.features, b.key_lanes}, {b.keys / b.key_lanes, z.features * b.key_lanes}});
    };
    const auto numbers = [&](float *data) { return Buffer(data + row, f32, {{tile, 1}, {b.rows / tile, tile}}); };
    Buffer q = tiled(m.q + row * z.stride, b.rows), out_grad = tiled(m.out_grad + row * z.stride, b.rows);
    Buffer q_grad = tiled(m.q_grad + row * z.stride, b.rows);
    Buffer k = tiled(m.k, b.keys), k_grad = tiled(m.k_grad, b.keys), v_grad = tiled(m.v_grad, b.keys);
    Buffer k_panels = panels(m.k_panels), v_panels = panels(m.v_panels);
    Buffer power = numbers(m.power), delta = numbers(m.delta);
    const auto feature_tiles = static_cast<int32_t>(z.features / b.features);
    const int32_t first_visible = c.left < 0 ? clamp_index(-unbounded) : clamp_index(-distance - c.left);
    const int32_t last_visible = c.right < 0 ? clamp_index(unbounded) : clamp_index(-distance + c.right);
    const int32_t origin = clamp_index(distance);
    constexpr float log2_e = 1.44269504088896f;
    const float alibi = c.alibi ? c.alibi[head(g)] * log2_e : 0;
    using A = BackwardArguments;
    KernelArguments<A> arguments(b.places);
    arguments[A::q] = &q;
    arguments[A::out_grad] = &out_grad;
    arguments[A::k] = &k;
    arguments[A::k_panels] = &k_panels;
    arguments[A::v_panels] = &v_panels;
    arguments[A::lse] = &power;
    arguments[A::delta] = &delta;
    arguments[A::rows] = &rows;
    arguments[A::keys] = &keys;
    arguments[A::feature_tiles] = &feature_tiles;
    arguments[A::scale] = &c.scale;
    arguments[A::first_visible] = &first_visible;
    arguments[A::last_visible] = &last_visible;
    arguments[A::alibi] = &alibi;
    arguments[A::alibi_origin] = &origin;
    arguments[A::softcap] = &c.softcap;
    arguments[A::dq] = &q_grad;
    arguments[A::dk] = &k_grad;
    arguments[A::dv] = &v_grad;
    std::optional<GeneralBlockArguments> general;
    if (b.general) {
        general.emplace(task.call, s, index, head(g), first_row, rows, first_key, keys);
        general->add_to(&arguments);
    }
    Slab slab(m.scratch, b.workspace);
    return arguments.call(*b.kernel, slab);
}

/// Keys that a sequence has room for, but does not use, have no influence.
void Runner::clear_unused_keys() const {
    const int64_t room = c.packed_keys ? c.cu_seqlens_k[index + 1] - c.cu_seqlens_k[index] : c.k.seqlen;
    for (const Heads *grad : {&task.call.k_grad, &task.call.v_grad})
        for (int64_t token = s.k_len; token < room; token++)
            std::memset(grad->at(s.batch, s.k_first + token, kv_head), 0,
                        static_cast<size_t>(grad->dim) * element_size(grad->dtype));
}

} // namespace

BackwardSizes BackwardTask::sizes() const {
    const AttentionCall &c = call.forward;
    const BlockKernel &b = *kernels.blocks;
    BackwardSizes z;
    z.features = round_to(std::max(c.q.dim, c.v.dim), b.features);
    z.stride = z.features + cache_line_floats;
    z.group = c.k.heads > 0 ? c.q.heads / c.k.heads : 0;
    z.rows = round_to(c.q.seqlen, b.rows); // packed sequences: together they are no longer
    z.keys = b.keys;
    z.run = b.rows;
    z.workspace = kernels.workspace();
    return z;
}

int64_t BackwardTask::sequences_together() const {
    return call.bias_grad.data && call.bias_grad.shape[0] == 1 ? call.forward.sequences : 1;
}

int64_t BackwardTask::heads_together() const {
    return call.bias_grad.data && call.bias_grad.shape[1] == 1 ? call.forward.k.heads : 1;
}

int64_t BackwardTask::count() const {
    if (call.forward.q.empty() && call.forward.k.empty()) return 0;
    const int64_t all = call.forward.sequences * call.forward.k.heads;
    return all ? all / (sequences_together() * heads_together()) : 0;
}

void BackwardTask::clear_bias_gradient() const {
    const BiasGradient &grad = call.bias_grad;
    const Heads rows = grad.as_heads();
    if (!grad.data || rows.empty()) return;
    for (int64_t b = 0; b < rows.batch; b++)
        for (int64_t h = 0; h < rows.heads; h++)
            for (int64_t i = 0; i < rows.seqlen; i++)
                std::memset(rows.at(b, i, h), 0, static_cast<size_t>(rows.dim) * sizeof(float));
}

bool BackwardTask::run(int64_t task, char *memory) const {
    const int64_t sequences = sequences_together(), heads = heads_together();
    const int64_t head_tasks = call.forward.k.heads / heads;
    const int64_t first = task / head_tasks * sequences, first_head = task % head_tasks * heads;
    for (int64_t index = first; index < first + sequences; index++)
        for (int64_t head = first_head; head < first_head + heads; head++)
            if (!Runner(*this, index, head, memory).run()) return false;
    return true;
}

} // namespace gyre
