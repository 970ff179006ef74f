#include "rotary/table_rows.h"

#include "core/error.h"
#include "core/tensor.h"

#include <cstring>

namespace gyre {
namespace {

float float_of(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

uint32_t bits_of(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

float float_of_bf16(uint16_t bits) { return float_of(static_cast<uint32_t>(bits) << 16); }

/// All ones or all zeros.
uint32_t mask_of(bool condition) { return condition ? ~uint32_t{0} : 0; }

/// IEEE 754 binary16 by arithmetic alone, since not every compiler has a type for it, and without a choice in which a compiler
/// would see a branch: it then converts several at once. No step reads a subnormal f32, which the processor may take for 0.
float float_of_f16(uint16_t bits) {
    constexpr uint32_t rebiased = (127 - 15) << 23; // from binary16's exponents to f32's
    const uint32_t magnitude = bits & 0x7fff;
    const uint32_t subnormal = bits_of(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
    const uint32_t normal = (magnitude << 13) + rebiased + (rebiased & mask_of(magnitude >= 0x7c00));
    const uint32_t is_subnormal = mask_of(magnitude < 0x0400);
    return float_of((subnormal & is_subnormal) | (normal & ~is_subnormal) | static_cast<uint32_t>(bits >> 15) << 31);
}

template <typename Element, typename Convert>
void convert_row(const char *from, int64_t stride, int pairs, float *to, const Convert &convert) {
    const auto *elements = reinterpret_cast<const Element *>(from);
    if (stride == 1) // a loop of its own, which compilers vectorize
        for (int i = 0; i < pairs; i++) to[i] = convert(elements[i]);
    else
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
