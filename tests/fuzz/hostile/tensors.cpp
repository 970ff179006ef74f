#include "tensors.h"

#include <algorithm>

namespace gyre::fuzz {
namespace {

using Wide = __int128;

constexpr Wide most_addresses = Wide(1) << 64;
constexpr Wide most_work = 1 << 14; // elements; a stride of 0 repeats them without memory

int64_t element_bytes(gyre_dtype dtype) {
    switch ((int)dtype) {
    case GYRE_F32:
    case GYRE_I32:
        return 4;
    case GYRE_F64:
    case GYRE_I64:
        return 8;
    case GYRE_BOOL:
        return 1;
    default:
        return 2;
    }
}

/// What is beyond all addresses stays there, and can be added up.
Wide bounded(Wide elements) { return std::clamp<Wide>(elements, -most_addresses, most_addresses); }

struct Extent {
    Wide low = 0, high = 0, elements = 1; // bytes
};

Extent extent_of(const gyre_tensor &t) {
    Extent e;
    const Wide size = element_bytes(t.dtype);
    for (int i = 0; i < std::clamp(t.rank, 0, GYRE_MAX_RANK); i++) {
        const Wide shape = std::max<int64_t>(t.shape[i], 0);
        e.elements = std::min(e.elements * shape, most_addresses);
        if (shape > 1) (t.strides[i] < 0 ? e.low : e.high) += bounded((shape - 1) * t.strides[i]) * size;
    }
    e.high += size;
    return e;
}

} // namespace

void HostileTensors::spoil(gyre_tensor *t) {
    if (!reader_.rarely(6)) return;
    const uint32_t d = reader_.below(GYRE_MAX_RANK);
    switch (reader_.below(9)) {
    case 0:
        t->rank = reader_.rarely() ? reader_.number<int32_t>() : (int32_t)reader_.below(6);
        break;
    case 1:
        t->shape[d] = reader_.edge();
        break;
    case 2:
        t->strides[d] = reader_.edge();
        break;
    case 3:
        t->dtype = (gyre_dtype)(reader_.rarely() ? reader_.number<int32_t>() : (int32_t)reader_.below(8));
        break;
    case 4:
        t->device = (gyre_device)(int32_t)reader_.below(4);
        break;
    case 5:
        t->shape[d] = reader_.below(4);
        break;
    case 6:
        t->strides[d] = 0;
        break;
    case 7:
        for (uint32_t i = 0; i < GYRE_MAX_RANK; i++) t->shape[i] = reader_.edge();
        break;
    default:
        for (uint32_t i = 0; i < GYRE_MAX_RANK; i++) t->strides[i] = reader_.edge();
        break;
    }
}

void HostileTensors::keep_in_memory(gyre_tensor *t, bool output) {
    const Extent e = extent_of(*t);
    // Now and then a call reads what it writes.
    uint8_t *const memory = output || reader_.rarely(24) ? memory_.outputs() : memory_.inputs();
    const Wide room = Memory::bytes, size = element_bytes(t->dtype);
    // At the first or at the last byte, or anywhere.
    const uint32_t place = reader_.below(4);
    const Wide last = room - e.high - (room - e.high) % size;
    const Wide offset = place == 0 ? -e.low : place == 1 ? std::max(last, -e.low) : -e.low + reader_.below(64) * size;
    const bool inside = offset + e.high <= room && e.elements <= most_work;
    const bool beyond = e.high - e.low >= most_addresses;
    const bool odd = t->rank < 1 || t->rank > GYRE_MAX_RANK; // is refused before anything is looked at
    t->data = nullptr;
    if (inside)
        t->data = memory + (int64_t)offset + (reader_.rarely(64) && offset + e.high < room ? 1 : 0); // not aligned
    else if (beyond || odd)
        t->data = memory + Memory::bytes / 2 / 64 * 64;
    if (reader_.rarely(64)) t->data = nullptr;
}

gyre_tensor HostileTensors::tensor(std::initializer_list<int64_t> shape, gyre_dtype dtype, bool output) {
    gyre_tensor t = gyre_tensor_dense(nullptr, dtype, (int32_t)shape.size(), shape.begin());
    spoil(&t);
    if (reader_.rarely(8)) spoil(&t);
    keep_in_memory(&t, output);
    return t;
}

const gyre_tensor *HostileTensors::pointer(std::initializer_list<int64_t> shape, gyre_dtype dtype, bool output) {
    if (reader_.rarely(8) || count_ == 24) return nullptr;
    kept_[count_] = tensor(shape, dtype, output);
    return &kept_[count_++];
}

void keep_parts_in_memory(gyre_tensor *part, int64_t parts, int64_t stride, Memory &memory) {
    if (!part->data || parts < 2 || stride < 0) return;
    const Wide shift = bounded(Wide(parts - 1) * stride) * element_bytes(part->dtype);
    const Extent e = extent_of(*part);
    if (shift + e.high - e.low >= most_addresses || e.elements == 0) return;
    const bool inside = parts < 64 && shift + e.high - e.low < (Wide)Memory::bytes;
    part->data = inside ? memory.inputs() + (int64_t)-e.low : nullptr;
}

} // namespace gyre::fuzz
