#include "cuda/rotary/token_angles.h"

#include "cuda/rotary/turns.h"
#include "rotary/table_rows.h"

namespace gyre::cuda {

gyre_status TokenAngles::prepare(const Rotation &r, const char *name, gyre_context::Frequencies &cache) {
    GYRE_TRY(check_device_tables(r, name));
    rotation = &r;
    scale = r.scale;
    has_tables = r.cos != nullptr;
    per_token = r.per_token;
    if (r.pairs > most_pairs)
        return refuse(GYRE_UNSUPPORTED, ArgumentName("%s.rotary_dim", name),
                      "got %d, on CUDA devices expected at most %d", 2 * r.pairs, 2 * most_pairs);
    if (r.on && !r.cos) {
        const double *inv_freq;
        GYRE_TRY(find_frequencies(r, cache, &inv_freq));
        for (int i = 0; i < r.pairs; i++) frequencies[i] = turns_of(inv_freq[i]);
    }
    for (int i = 0; i < r.pairs; i++) axis_of_pair[i] = static_cast<uint8_t>(r.axis_of_pair(i));
    frequencies_view.describe(frequencies, {halide_type_uint, 64, 1}, {{most_pairs, 1}});
    axes_view.describe(axis_of_pair, {halide_type_uint, 8, 1}, {{most_pairs, 1}});
    return GYRE_OK;
}

gyre_status TokenAngles::place(const Positions &p, const char *name, int64_t batch, int64_t token, int64_t batches,
                               int64_t tokens) {
    const Rotation &r = *rotation;
    const halide_type_t f32 = halide_type(GYRE_F32);
    position_offset = static_cast<int32_t>(p.offset + token);
    GYRE_TRY(of_tokens.place(p, "positions", batch, token, batches, tokens, r.axes));
    for (const gyre_tensor *table : {r.cos, r.sin}) {
        Buffer &view = table == r.cos ? cos_view : sin_view;
        if (!table) {
            cos_view.describe(nullptr, f32, {{r.pairs, 1}, {1, 0}, {1, 0}});
            sin_view.describe(nullptr, f32, {{r.pairs, 1}, {1, 0}, {1, 0}});
            break;
        }
        const int64_t row = table->strides[table->rank - 2],
                      entry = r.per_token && table->shape[0] > 1 ? table->strides[0] : 0;
        const auto *data = static_cast<const float *>(table->data) + (r.per_token ? batch * entry + token * row : 0);
        const int64_t rows = r.per_token ? tokens : table->shape[0];
        const std::initializer_list<Buffer::Dimension> extents = {
            {r.pairs, 1}, {rows, row}, {r.per_token ? batches : 1, entry}};
        if (!fits_kernel_index(extents))
            return refuse(GYRE_UNSUPPORTED, ArgumentName("%s.%s", name, table == r.cos ? "cos" : "sin"),
                          "strides reach over 2^31 elements");
        view.describe(data, f32, extents);
    }
    return GYRE_OK;
}

void TokenAngles::add_to(KernelArguments<RotaryCudaArguments> *to) {
    using A = RotaryCudaArguments;
    KernelArguments<A> &arguments = *to;
    arguments[A::frequencies] = &frequencies_view;
    arguments[A::axis_of_pair] = &axes_view;
    arguments[A::positions] = &of_tokens.view;
    arguments[A::has_positions] = &of_tokens.given;
    arguments[A::position_offset] = &position_offset;
    arguments[A::cos] = &cos_view;
    arguments[A::sin] = &sin_view;
    arguments[A::has_tables] = &has_tables;
    arguments[A::per_token] = &per_token;
    arguments[A::scale] = &scale;
}

} // namespace gyre::cuda
