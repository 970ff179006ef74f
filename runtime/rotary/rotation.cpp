#include "rotary/rotation.h"

#include "core/arguments.h"
#include "core/tensor.h"

#include <algorithm>
#include <cmath>

namespace gyre {
namespace {

gyre_status check_sections(const gyre_rope &r, const char *name, int pairs) {
    int64_t sum = 0;
    for (int axis = 0; axis < r.axes; axis++) {
        if (r.sections[axis] < 0)
            return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.sections[%d]", name, axis), "got %d, expected >= 0",
                          r.sections[axis]);
        sum += r.sections[axis];
    }
    if (sum != pairs)
        return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.sections", name), "sum is %lld, expected rotary_dim / 2 = %d",
                      static_cast<long long>(sum), pairs);
    return GYRE_OK;
}

/// Checks the fields that take one of some words, whether or not others make them matter.
gyre_status check_words(const gyre_rope &r, const char *name) {
    if (r.pairing != GYRE_HALF && r.pairing != GYRE_INTERLEAVED)
        return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.pairing", name),
                      "got %d, expected GYRE_HALF (0) or GYRE_INTERLEAVED (1)", static_cast<int>(r.pairing));
    if (r.frequency_base != GYRE_OVER_ROTARY_DIM && r.frequency_base != GYRE_OVER_HEAD_DIM)
        return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.frequency_base", name),
                      "got %d, expected GYRE_OVER_ROTARY_DIM (0) or GYRE_OVER_HEAD_DIM (1)",
                      static_cast<int>(r.frequency_base));
    if (r.section_order != GYRE_SECTIONS_CONTIGUOUS && r.section_order != GYRE_SECTIONS_INTERLEAVED)
        return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.section_order", name),
                      "got %d, expected GYRE_SECTIONS_CONTIGUOUS (0) or GYRE_SECTIONS_INTERLEAVED (1)",
                      static_cast<int>(r.section_order));
    return GYRE_OK;
}

gyre_status check_tables(const gyre_rope &r, const char *name, int pairs, int64_t batch, int64_t seqlen, bool need_data,
                         Rotation *out) {
    char field[64];
    if (!r.cos || !r.sin)
        return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.%s", name, r.cos ? "sin" : "cos"),
                      "got NULL beside the other table, expected both");
    if (r.axes > 1)
        return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.axes", name), "got %d with tables, expected 1", r.axes);
    for (const gyre_tensor *table : {r.cos, r.sin}) {
        std::snprintf(field, sizeof field, "%s.%s", name, table == r.cos ? "cos" : "sin");
        GYRE_TRY(
            check_tensor(*table, field, {2, 3}, {GYRE_F32, GYRE_F16, GYRE_BF16, GYRE_F64}, need_data, any_strides));
        if (table->rank == 2) GYRE_TRY(check_shape(*table, field, {r.cos->shape[0], pairs}));
        const bool one_for_all = table->rank == 3 && table->shape[0] == 1;
        if (table->rank == 3) GYRE_TRY(check_shape(*table, field, {one_for_all ? 1 : batch, seqlen, pairs}));
    }
    if (r.cos->rank != r.sin->rank)
        return refuse(GYRE_BAD_SHAPE, ArgumentName("%s.sin", name), "got rank %d, expected cos's %d", r.sin->rank,
                      r.cos->rank);
    out->cos = r.cos;
    out->sin = r.sin;
    out->per_token = r.cos->rank == 3;
    return GYRE_OK;
}

gyre_status check_frequencies(const gyre_rope &r, const char *name, int pairs, int64_t head_dim, int rotary_dim,
                              Rotation *out) {
    if (!(std::isfinite(r.attention_factor) && r.attention_factor > 0))
        return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.attention_factor", name),
                      "got %g, expected a finite number > 0", r.attention_factor);
    out->scale = static_cast<float>(r.attention_factor);
    if (r.inv_freq) {
        for (int i = 0; i < pairs; i++)
            if (!std::isfinite(r.inv_freq[i]) || std::fabs(r.inv_freq[i]) > 1024)
                return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.inv_freq[%d]", name, i),
                              "got %g, expected radians a token in [-1024, 1024]", r.inv_freq[i]);
        for (int i = 0; i < pairs; i++) out->fastest = std::max(out->fastest, std::fabs(r.inv_freq[i]));
        out->inv_freq = r.inv_freq;
        return GYRE_OK;
    }
    if (!(std::isfinite(r.theta) && r.theta >= 1))
        return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.theta", name), "got %g, expected a finite number >= 1",
                      r.theta);
    out->theta = r.theta;
    out->denominator = r.frequency_base == GYRE_OVER_HEAD_DIM ? static_cast<int>(head_dim) : rotary_dim;
    return GYRE_OK;
}

} // namespace

int Rotation::axis_of_pair(int pair) const {
    if (axes <= 1) return 0;
    if (section_order == GYRE_SECTIONS_INTERLEAVED) {
        const int axis = pair % axes;
        return pair < axes * sections[axis] ? axis : 0;
    }
    int axis = 0;
    for (int end = sections[0]; pair >= end && axis < axes - 1; end += sections[axis]) axis++;
    return axis;
}

bool same_angles(const Rotation &a, const Rotation &b) {
    if (a.pairs != b.pairs || a.scale != b.scale || a.axes != b.axes || a.section_order != b.section_order ||
        std::memcmp(a.sections, b.sections, sizeof a.sections) != 0)
        return false;
    if (!a.cos && !b.cos) return a.inv_freq == b.inv_freq && a.theta == b.theta && a.denominator == b.denominator;
    if (!a.cos || !b.cos) return false;
    const auto same_table = [](const gyre_tensor &s, const gyre_tensor &t) {
        return s.data && s.data == t.data && s.dtype == t.dtype && s.rank == t.rank &&
               std::equal(s.shape, s.shape + s.rank, t.shape) && std::equal(s.strides, s.strides + s.rank, t.strides);
    };
    return same_table(*a.cos, *b.cos) && same_table(*a.sin, *b.sin);
}

gyre_status check_rope(const gyre_rope *given, const char *name, int64_t head_dim, int64_t batch, int64_t seqlen,
                       bool need_data, Rotation *out) {
    *out = {};
    gyre_rope r;
    GYRE_TRY(adopt(given, name, gyre_rope_defaults(), sizeof r, &r));
    const int64_t rotary_dim = r.rotary_dim ? r.rotary_dim : head_dim - r.rotary_offset;
    GYRE_TRY(check_words(r, name));
    if (r.rotary_offset < 0 || r.rotary_offset > head_dim)
        return refuse(GYRE_BAD_SHAPE, ArgumentName("%s.rotary_offset", name), "got %d, expected 0 .. head_dim %lld",
                      r.rotary_offset, static_cast<long long>(head_dim));
    if (!r.rotary_dim && head_dim > 0 && (rotary_dim % 2 || rotary_dim == 0))
        return refuse(GYRE_BAD_SHAPE, ArgumentName("%s.rotary_dim", name),
                      "got 0, which means the %lld features from rotary_offset %d on, expected an even number > 0",
                      static_cast<long long>(rotary_dim), r.rotary_offset);
    if (rotary_dim < 0 || rotary_dim % 2 || (rotary_dim == 0 && head_dim > 0))
        return refuse(GYRE_BAD_SHAPE, ArgumentName("%s.rotary_dim", name), "got %lld, expected an even number > 0",
                      static_cast<long long>(rotary_dim));
    if (r.rotary_offset + rotary_dim > head_dim)
        return refuse(GYRE_BAD_SHAPE, ArgumentName("%s.rotary_dim", name),
                      "got %lld at rotary_offset %d, expected to end within head_dim %lld",
                      static_cast<long long>(rotary_dim), r.rotary_offset, static_cast<long long>(head_dim));
    if (r.axes < 0 || r.axes > GYRE_MAX_AXES)
        return refuse(GYRE_BAD_ARGUMENT, ArgumentName("%s.axes", name), "got %d, expected 0 .. %d", r.axes,
                      GYRE_MAX_AXES);
    out->on = true;
    out->pairing = r.pairing;
    out->pairs = static_cast<int>(rotary_dim / 2);
    out->offset = r.rotary_offset;
    if (r.axes > 1) {
        GYRE_TRY(check_sections(r, name, out->pairs));
        out->axes = r.axes;
        std::memcpy(out->sections, r.sections, sizeof out->sections);
        out->section_order = r.section_order;
    }
    if (r.cos || r.sin) return check_tables(r, name, out->pairs, batch, seqlen, need_data, out);
    return check_frequencies(r, name, out->pairs, head_dim, static_cast<int>(rotary_dim), out);
}

} // namespace gyre
