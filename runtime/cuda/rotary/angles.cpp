#include "cuda/rotary/angles.h"

#include "cuda/rotary/turns.h"
#include "rotary/table_rows.h"

namespace gyre::cuda {

gyre_status DeviceAngles::prepare(const Rotation &r, const char *name, gyre_context::Frequencies &cache) {
    GYRE_TRY(check_device_tables(r, name));
    pairs = r.on ? r.pairs : 0;
    interleaved = r.pairing == GYRE_INTERLEAVED;
    scale = r.scale;
    has_tables = r.on && r.cos;
    const halide_type_t f32 = halide_type(GYRE_F32);
    for (const gyre_tensor *table : {r.cos, r.sin}) {
        Buffer &view = table == r.cos ? cos_view : sin_view;
        if (!has_tables) {
            cos_view.describe(nullptr, f32, {{1, 1}, {1, 0}});
            sin_view.describe(nullptr, f32, {{1, 1}, {1, 0}});
            break;
        }
        const std::initializer_list<Buffer::Dimension> extents = {{pairs, 1}, {table->shape[0], table->strides[0]}};
        if (!fits_kernel_index(extents))
            return refuse(GYRE_UNSUPPORTED, ArgumentName("%s.%s", name, table == r.cos ? "cos" : "sin"),
                          "strides reach over 2^31 elements");
        view.describe(table->data, f32, extents);
    }
    if (r.on && !has_tables) {
        const double *inv_freq;
        GYRE_TRY(find_frequencies(r, cache, &inv_freq));
        for (int i = 0; i < pairs; i++) frequencies[i] = turns_of(inv_freq[i]);
    }
    for (int i = 0; i < pairs; i++) axis_of_pair[i] = r.axis_of_pair(i);
    frequencies_view.describe(frequencies, {halide_type_uint, 64, 1}, {{most_pairs, 1}});
    axes_view.describe(axis_of_pair, halide_type(GYRE_I32), {{most_pairs, 1}});
    return GYRE_OK;
}

gyre_status DevicePositions::place(const Positions &p, const char *name, int64_t batch, int64_t token, int64_t batches,
                                   int64_t tokens, int axes) {
    const int64_t words = p.wide ? 2 : 1; // of a position, whose lower one is enough
    given = p.given;
    const auto *first = static_cast<const int32_t *>(p.data);
    if (first) first += (batch * p.batch_stride + token * p.token_stride) * words;
    const std::initializer_list<Buffer::Dimension> extents = {
        {tokens, p.token_stride * words}, {batches, p.batch_stride * words}, {axes, p.axis_stride * words}};
    if (!fits_kernel_index(extents)) return refuse(GYRE_UNSUPPORTED, name, "strides reach over 2^31 elements");
    view.describe(first, halide_type(GYRE_I32), extents);
    return GYRE_OK;
}

} // namespace gyre::cuda
