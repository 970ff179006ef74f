#include "rotary/table_rows.h"

#include "core/error.h"
#include "core/tensor.h"

#include <cmath>
#include <cstring>

namespace gyre {
namespace {

float float_of_bf16(uint16_t bits) {
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
}

/// IEEE 754 binary16, by arithmetic alone: not every compiler has a type for it.
float float_of_f16(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float value;
    if (exponent == 31)
        value = fraction ? NAN : INFINITY;
    else
        value = std::ldexp(static_cast<float>(exponent ? fraction + 1024 : fraction), (exponent ? exponent : 1) - 25);
    return bits >> 15 ? -value : value;
}

template <typename Element, typename Convert>
void convert_row(const char *from, int64_t stride, int pairs, float *to, const Convert &convert) {
    const auto *elements = reinterpret_cast<const Element *>(from);
    for (int i = 0; i < pairs; i++) to[i] = convert(elements[i * stride]);
}

/// The stride of a dimension; of one element it means nothing.
int64_t stride_of(const gyre_tensor &t, int dimension) { return t.shape[dimension] > 1 ? t.strides[dimension] : 0; }

} // namespace

void copy_table_row(const gyre_tensor &table, int64_t batch, int64_t row, int pairs, float *to) {
    const int last = table.rank - 1;
    const int64_t offset = (table.rank == 3 ? batch * stride_of(table, 0) : 0) + row * stride_of(table, last - 1);
    const char *from = static_cast<const char *>(table.data) + offset * static_cast<int64_t>(element_size(table.dtype));
    const int64_t stride = stride_of(table, last);
    switch (table.dtype) {
    case GYRE_F16:
        return convert_row<uint16_t>(from, stride, pairs, to, float_of_f16);
    case GYRE_BF16:
        return convert_row<uint16_t>(from, stride, pairs, to, float_of_bf16);
    case GYRE_F64:
        return convert_row<double>(from, stride, pairs, to, [](double x) { return static_cast<float>(x); });
    default:
        if (stride == 1 || pairs == 1) {
            std::memcpy(to, from, static_cast<size_t>(pairs) * sizeof(float));
            return;
        }
        return convert_row<float>(from, stride, pairs, to, [](float x) { return x; });
    }
}

gyre_status check_device_tables(const Rotation &r, const char *name) {
    if (!r.on || !r.cos) return GYRE_OK;
    for (const gyre_tensor *table : {r.cos, r.sin}) {
        const char *field = table == r.cos ? "cos" : "sin";
        if (table->dtype != GYRE_F32)
            return refuse(GYRE_UNSUPPORTED, ArgumentName("%s.%s", name, field), "got %s on a CUDA device, expected f32",
                          dtype_name(table->dtype));
        if (r.pairs > 1 && table->strides[table->rank - 1] != 1)
            return refuse(GYRE_UNSUPPORTED, ArgumentName("%s.%s", name, field),
                          "got strides %s on a CUDA device, expected the last to be 1",
                          shape_text(table->strides, table->rank));
    }
    return GYRE_OK;
}

} // namespace gyre
