// The launches of linear attention on a CUDA device, for some batch entries at once.
#include "core/argument_tables.h"
#include "core/kernel_arguments.h"
#include "core/kernel_call.h"
#include "cuda/linear/linear.h"

namespace gyre::cuda {
namespace {

const halide_type_t f32 = halide_type(GYRE_F32), i32 = halide_type(GYRE_I32);

/// (feature, head, token, entry)
void view_rows(Buffer *b, const LinearArray &a, int64_t dim, int64_t heads, int64_t tokens, int64_t entries) {
    b->describe(a.data, f32,
                {{dim, a.feature_stride}, {heads, a.head_stride}, {tokens, a.token_stride}, {entries, a.entry_stride}});
}

/// (token, feature, head, entry)
void view_columns(Buffer *b, const LinearArray &a, int64_t dim, int64_t heads, int64_t tokens, int64_t entries) {
    b->describe(a.data, f32,
                {{tokens, a.token_stride}, {dim, a.feature_stride}, {heads, a.head_stride}, {entries, a.entry_stride}});
}

/// (e, d, slot, head, entry)
void view_slots(Buffer *b, const LinearArray &a, int64_t row, int64_t dim, int64_t slots, int64_t heads,
                int64_t entries) {
    b->describe(a.data, f32,
                {{row, 1},
                 {dim, a.feature_stride},
                 {slots, a.token_stride},
                 {heads, a.head_stride},
                 {entries, a.entry_stride}});
}

/// (d, slot, head, entry)
void view_sums(Buffer *b, const LinearArray &a, int64_t dim, int64_t slots, int64_t heads, int64_t entries) {
    b->describe(a.data, f32, {{dim, 1}, {slots, a.token_stride}, {heads, a.head_stride}, {entries, a.entry_stride}});
}

/// The lists of a run of batch entries, of which packed sequences have one.
struct Lists {
    const bool packed, has_counts;
    const int32_t sequences, keys;
    Buffer q_bounds, k_bounds, counts;

    Lists(const AttentionCall &c, bool packed, int64_t first, int64_t entries)
        : packed(packed), has_counts(c.seqused_k != nullptr),
          sequences(static_cast<int32_t>(packed ? c.sequences : entries)), keys(static_cast<int32_t>(c.k.seqlen)) {
        q_bounds.describe(c.cu_seqlens_q, i32, {{sequences + 1, 1}});
        k_bounds.describe(c.cu_seqlens_k, i32, {{sequences + 1, 1}});
        counts.describe(has_counts ? c.seqused_k + first : nullptr, i32, {{sequences, 1}});
    }
    void add_to(KernelArguments<LinearCudaArguments> *arguments) {
        using A = LinearCudaArguments;
        (*arguments)[A::k_bounds] = &k_bounds;
        (*arguments)[A::packed] = &packed;
        (*arguments)[A::sequences] = &sequences;
        (*arguments)[A::keys] = &keys;
        (*arguments)[A::key_counts] = &counts;
        (*arguments)[A::has_key_counts] = &has_counts;
    }
};

/// The features of a tensor's rows, in f32, as `array` holds them.
Heads rows_of(const LinearArray &array, const Heads &tensor) {
    return {reinterpret_cast<char *>(array.data),
            GYRE_F32,
            tensor.batch,
            tensor.seqlen,
            tensor.heads,
            tensor.dim,
            array.entry_stride,
            array.token_stride,
            array.head_stride};
}

} // namespace

gyre_status LinearOnDevice::rotate(const Entries &of, const LinearArray &array, const Heads &tensor,
                                   const Rotated &given) const {
    Rotated how = given;
    const int64_t size = how.positions.wide ? sizeof(int64_t) : sizeof(int32_t);
    if (how.positions.given)
        how.positions.data =
            static_cast<const char *>(how.positions.data) + of.first * how.positions.batch_stride * size;
    const Heads rows = rows_of(array, tensor);
    return rotate_rows(of.context, of.scope, *rotary, how, 1, rows, rows, of.context.frequencies[0]);
}

gyre_status LinearOnDevice::form_queries(const Entries &of) const {
    Heads q = call.heads.q;
    q.data = q.at(of.first, 0, 0);
    q.batch = of.count;
    GYRE_TRY(write_features(of.context, of.scope, *features, q, memory.q, true));
    if (!rotary) return GYRE_OK;
    GYRE_TRY(write_features(of.context, of.scope, *features, q, memory.q_rows, true));
    GYRE_TRY(rotate(of, memory.q_rows, q, queries));
    return write_features(of.context, of.scope, *copies, rows_of(memory.q_rows, q), memory.q_rotated, false);
}

gyre_status LinearOnDevice::form_keys(const Entries &of) const {
    Heads k = call.heads.k, v = call.heads.v;
    if (k.empty() || v.dim == 0) return GYRE_OK;
    k.data = k.at(of.first, 0, 0);
    v.data = v.at(of.first, 0, 0);
    k.batch = v.batch = of.count;
    GYRE_TRY(write_features(of.context, of.scope, *features, v, memory.v, false));
    GYRE_TRY(write_features(of.context, of.scope, *features, k, memory.k_rows, true));
    if (call.causal) GYRE_TRY(write_features(of.context, of.scope, *features, k, memory.k, true));
    if (!rotary) return GYRE_OK;
    GYRE_TRY(write_features(of.context, of.scope, *features, k, memory.k_rows_rotated, true));
    GYRE_TRY(rotate(of, memory.k_rows_rotated, k, keys));
    if (!call.causal) return GYRE_OK;
    return write_features(of.context, of.scope, *copies, rows_of(memory.k_rows_rotated, k), memory.k_rotated, false);
}

gyre_status LinearOnDevice::add_chunks(const Entries &of) const {
    const AttentionCall &c = call.heads;
    Lists lists(c, args.cu_seqlens_q, of.first, of.count);
    Buffer k, k_rotated, v, kv, k_sum;
    view_rows(&k, memory.k_rows, c.k.dim, c.k.heads, c.k.seqlen, of.count);
    view_rows(&k_rotated, rotary ? memory.k_rows_rotated : memory.k_rows, c.k.dim, c.k.heads, c.k.seqlen, of.count);
    view_rows(&v, memory.v, c.v.dim, c.k.heads, c.k.seqlen, of.count);
    view_slots(&kv, memory.kv_chunks, c.v.dim, c.k.dim, memory.slots, c.k.heads, of.count);
    view_sums(&k_sum, memory.k_chunks, c.k.dim, memory.slots, c.k.heads, of.count);
    using A = LinearCudaArguments;
    KernelArguments<A> arguments(chunks->places);
    lists.add_to(&arguments);
    arguments[A::k_rows] = &k;
    arguments[A::k_rows_rotated] = &k_rotated;
    arguments[A::v] = &v;
    arguments[A::kv] = &kv;
    arguments[A::k_sum] = &k_sum;
    return launch(of.context, of.scope, *chunks->kernel, arguments);
}

gyre_status LinearOnDevice::add_sums(const Entries &of, const LinearArray &from, const LinearArray &to,
                                     const Heads &before, const Heads &after) const {
    const AttentionCall &c = call.heads;
    const bool packed = args.cu_seqlens_q, has_before = before.data, of_values = &from == &memory.kv_chunks;
    const int64_t row = of_values ? c.v.dim : c.k.dim, dim = of_values ? c.k.dim : 1;
    Lists lists(c, packed, of.first, of.count);
    // A token stands for all features where the state is that of keys alone.
    const auto view_state = [&](Buffer *b, const Heads &state, bool with_slot) {
        float *data = reinterpret_cast<float *>(state.at(of.first, 0, 0));
        if (with_slot)
            b->describe(data, f32,
                        {{row, 1},
                         {dim, state.token_stride},
                         {1, 0},
                         {c.k.heads, state.head_stride},
                         {lists.sequences, state.batch_stride}});
        else
            b->describe(data, f32,
                        {{row, 1},
                         {dim, state.token_stride},
                         {c.k.heads, state.head_stride},
                         {lists.sequences, state.batch_stride}});
    };
    Buffer before_view(nullptr, f32, {{row, 1}, {dim, 0}, {c.k.heads, 0}, {lists.sequences, 0}}), from_view;
    if (has_before) view_state(&before_view, before, false);
    view_slots(&from_view, from, row, dim, memory.slots, c.k.heads, of.count);
    for (const bool last_only : {false, true}) {
        if (last_only && !after.data) continue;
        Buffer to_view;
        if (last_only)
            view_state(&to_view, after, true);
        else
            view_slots(&to_view, to, row, dim, memory.slots, c.k.heads, of.count);
        using A = LinearCudaArguments;
        KernelArguments<A> arguments(sums->places);
        lists.add_to(&arguments);
        arguments[A::before] = &before_view;
        arguments[A::has_before] = &has_before;
        arguments[A::last_only] = &last_only;
        arguments[A::chunks] = &from_view;
        arguments[A::sums] = &to_view;
        GYRE_TRY(launch(of.context, of.scope, *sums->kernel, arguments));
    }
    return GYRE_OK;
}

gyre_status LinearOnDevice::attend(const Entries &of) const {
    const AttentionCall &c = call.heads;
    Lists lists(c, args.cu_seqlens_q, of.first, of.count);
    const auto group = static_cast<int32_t>(c.sharing());
    const bool causal = call.causal, rotated = rotary;
    const Heads &to = results.view();
    Buffer q, q_rotated, k, k_rotated, v, kv, k_sum, out;
    view_columns(&q, memory.q, c.q.dim, c.q.heads, c.q.seqlen, of.count);
    view_columns(&q_rotated, rotated ? memory.q_rotated : memory.q, c.q.dim, c.q.heads, c.q.seqlen, of.count);
    view_columns(&k, memory.k, c.k.dim, c.k.heads, c.k.seqlen, of.count);
    view_columns(&k_rotated, rotated ? memory.k_rotated : memory.k, c.k.dim, c.k.heads, c.k.seqlen, of.count);
    view_rows(&v, memory.v, c.v.dim, c.k.heads, c.k.seqlen, of.count);
    view_slots(&kv, memory.kv_before, c.v.dim, c.k.dim, memory.slots, c.k.heads, of.count);
    view_sums(&k_sum, memory.k_before, c.k.dim, memory.slots, c.k.heads, of.count);
    constexpr int64_t chunk = LinearMemory::chunk;
    out.describe(to.at(of.first, 0, 0), f32,
                 {{to.dim, 1},
                  {to.heads, to.head_stride},
                  {chunk, to.token_stride},
                  {memory.row_tiles, chunk * to.token_stride},
                  {of.count, to.batch_stride}});
    using A = LinearCudaArguments;
    KernelArguments<A> arguments(rows->places);
    lists.add_to(&arguments);
    arguments[A::q_bounds] = &lists.q_bounds;
    arguments[A::causal] = &causal;
    arguments[A::rotated] = &rotated;
    arguments[A::group] = &group;
    arguments[A::q] = &q;
    arguments[A::q_rotated] = &q_rotated;
    arguments[A::k] = &k;
    arguments[A::k_rotated] = &k_rotated;
    arguments[A::v] = &v;
    arguments[A::kv_before] = &kv;
    arguments[A::k_before] = &k_sum;
    arguments[A::out] = &out;
    return launch(of.context, of.scope, *rows->kernel, arguments);
}

} // namespace gyre::cuda
