// gyre_tensor_from_dlpack(). The layout of DLTensor is DLPack's ABI, https://dmlc.github.io/dlpack, version 1.
#include "core/entry.h"
#include "gyre/gyre.h"

namespace {

struct DLTensor {
    void *data;
    struct {
        int32_t device_type, device_id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
};

/// DLPack's type codes: 0 signed, 2 float, 4 bfloat, 6 bool.
bool find_dtype(int code, int bits, gyre_dtype *dtype) {
    const struct {
        int code, bits;
        gyre_dtype dtype;
    } types[] = {{2, 32, GYRE_F32}, {2, 16, GYRE_F16}, {4, 16, GYRE_BF16}, {2, 64, GYRE_F64},
                 {0, 32, GYRE_I32}, {0, 64, GYRE_I64}, {6, 8, GYRE_BOOL}};
    for (const auto &t : types) {
        if (t.code != code || t.bits != bits) continue;
        *dtype = t.dtype;
        return true;
    }
    return false;
}

} // namespace

extern "C" gyre_status gyre_tensor_from_dlpack(const void *dl_tensor, gyre_tensor *out) {
    return gyre::enter([&] {
        using gyre::refuse;
        const auto *t = static_cast<const DLTensor *>(dl_tensor);
        if (!t || !out) return refuse(GYRE_BAD_ARGUMENT, t ? "out" : "dl_tensor", "got NULL");
        if (t->ndim < 1 || t->ndim > GYRE_MAX_RANK)
            return refuse(GYRE_BAD_SHAPE, "dl_tensor", "got rank %d, expected 1 .. %d", t->ndim, GYRE_MAX_RANK);
        if (!t->shape) return refuse(GYRE_BAD_ARGUMENT, "dl_tensor.shape", "got NULL");
        if (t->device.device_type != GYRE_CPU && t->device.device_type != GYRE_CUDA)
            return refuse(GYRE_UNSUPPORTED, "dl_tensor", "got device type %d, expected 1 (CPU) or 2 (CUDA)",
                          t->device.device_type);
        gyre_dtype dtype;
        if (t->dtype.lanes != 1 || !find_dtype(t->dtype.code, t->dtype.bits, &dtype))
            return refuse(GYRE_BAD_TYPE, "dl_tensor",
                          "got type code %d of %d bits in %d lanes, expected f32, f16, bf16, f64, i32, i64 or bool",
                          t->dtype.code, t->dtype.bits, t->dtype.lanes);
        *out =
            gyre_tensor_dense(static_cast<char *>(t->data) + (t->data ? t->byte_offset : 0), dtype, t->ndim, t->shape);
        out->device = static_cast<gyre_device>(t->device.device_type);
        for (int i = 0; t->strides && i < t->ndim; i++) out->strides[i] = t->strides[i];
        return GYRE_OK;
    });
}
