#include "tensor.h"
#include "element.h"
#include "random.h"

#include <cstring>

namespace gyre::test {
namespace {

constexpr int64_t guard = 96; // elements before and after: more than a vector register or a cache line

/// Calls visit(offset) for every element in C order; offsets are relative to element (0, 0, …).
template <typename Visit>
void each_offset_of(const int64_t *shape, const int64_t *strides, int rank, int64_t offset, const Visit &visit) {
    if (rank == 0) return visit(offset);
    for (int64_t i = 0; i < shape[0]; i++)
        each_offset_of(shape + 1, strides + 1, rank - 1, offset + i * strides[0], visit);
}

} // namespace

double read_element(const gyre_tensor &view, int64_t offset) {
    return decode_element(view.dtype,
                          static_cast<const unsigned char *>(view.data) + offset * element_size(view.dtype));
}

std::vector<double> values_of(const gyre_tensor &view) {
    std::vector<double> values;
    each_offset_of(view.shape, view.strides, view.rank, 0,
                   [&](int64_t offset) { values.push_back(read_element(view, offset)); });
    return values;
}

Tensor::Tensor(gyre_dtype dtype, std::vector<int64_t> shape, Placement placement)
    : dtype_(dtype), shape_(std::move(shape)), strides_(std::move(placement.strides)) {
    const int rank = (int)shape_.size();
    if (strides_.empty()) {
        strides_.resize(shape_.size());
        int64_t stride = 1;
        for (int k = rank - 1; k >= 0; k--) {
            const int dimension = placement.order.empty() ? k : placement.order[(size_t)k];
            strides_[(size_t)dimension] = stride;
            stride *= shape_[(size_t)dimension];
            if (k == rank - 1) stride += placement.row_gap;
        }
    }
    int64_t lowest = 0, highest = 0;
    for (size_t k = 0; k < shape_.size(); k++) {
        const int64_t reach = shape_[k] > 0 ? (shape_[k] - 1) * strides_[k] : 0;
        (reach < 0 ? lowest : highest) += reach;
    }
    first_ = guard - lowest;
    const int64_t size = element_size(dtype_), elements = first_ + highest + 1 + guard;
    memory_.resize((size_t)(elements * size));
    for (int64_t i = 0; i < elements; i++)
        std::memcpy(&memory_[(size_t)(i * size)], poison_pattern(dtype_), (size_t)size);
}

template <typename Visit>
void Tensor::each_offset(Visit visit) const {
    each_offset_of(shape_.data(), strides_.data(), (int)shape_.size(), first_, visit);
}

gyre_tensor Tensor::view() const {
    gyre_tensor view;
    std::memset(&view, 0, sizeof view);
    view.data = const_cast<unsigned char *>(memory_.data()) + first_ * element_size(dtype_);
    view.dtype = dtype_;
    view.device = GYRE_CPU;
    view.rank = (int32_t)shape_.size();
    for (size_t k = 0; k < shape_.size(); k++) {
        view.shape[k] = shape_[k];
        view.strides[k] = strides_[k];
    }
    return view;
}

int64_t Tensor::count() const {
    int64_t count = 1;
    for (const int64_t extent : shape_) count *= extent;
    return count;
}

double Tensor::read(int64_t offset) const {
    return decode_element(dtype_, &memory_[(size_t)(offset * element_size(dtype_))]);
}

void Tensor::write(int64_t offset, double value) {
    encode_element(dtype_, &memory_[(size_t)(offset * element_size(dtype_))], value);
}

uint64_t Tensor::read_bits(int64_t offset) const {
    uint64_t bits = 0;
    std::memcpy(&bits, &memory_[(size_t)(offset * element_size(dtype_))], (size_t)element_size(dtype_));
    return bits;
}

bool Tensor::is_poison(int64_t offset) const {
    const auto size = (size_t)element_size(dtype_);
    return std::memcmp(&memory_[(size_t)offset * size], poison_pattern(dtype_), size) == 0;
}

std::vector<double> Tensor::values() const {
    std::vector<double> values;
    values.reserve((size_t)count());
    each_offset([&](int64_t offset) { values.push_back(read(offset)); });
    return values;
}

std::vector<uint64_t> Tensor::bits() const {
    std::vector<uint64_t> bits;
    bits.reserve((size_t)count());
    each_offset([&](int64_t offset) { bits.push_back(read_bits(offset)); });
    return bits;
}

void Tensor::set_values(const std::vector<double> &values) {
    size_t next = 0;
    each_offset([&](int64_t offset) { write(offset, values.at(next++)); });
}

void Tensor::set(const std::vector<int64_t> &index, double value) {
    int64_t offset = first_;
    for (size_t k = 0; k < index.size(); k++) offset += index[k] * strides_[k];
    write(offset, value);
}

double Tensor::get(const std::vector<int64_t> &index) const {
    int64_t offset = first_;
    for (size_t k = 0; k < index.size(); k++) offset += index[k] * strides_[k];
    return read(offset);
}

void Tensor::fill_normal(uint64_t seed, double scale) {
    Random random(seed);
    each_offset([&](int64_t offset) { write(offset, scale * random.normal()); });
}

void Tensor::fill_uniform_integers(uint64_t seed, int64_t lowest, int64_t highest) {
    Random random(seed);
    each_offset([&](int64_t offset) { write(offset, (double)random.integer(lowest, highest)); });
}

void Tensor::fill(double value) {
    each_offset([&](int64_t offset) { write(offset, value); });
}

void Tensor::poison() {
    const auto size = (size_t)element_size(dtype_);
    each_offset([&](int64_t offset) { std::memcpy(&memory_[(size_t)offset * size], poison_pattern(dtype_), size); });
}

bool Tensor::elements_poisoned() const {
    bool all = true;
    each_offset([&](int64_t offset) { all = all && is_poison(offset); });
    return all;
}

bool Tensor::surroundings_intact() const {
    std::vector<bool> is_element(memory_.size() / (size_t)element_size(dtype_), false);
    each_offset([&](int64_t offset) { is_element[(size_t)offset] = true; });
    for (size_t i = 0; i < is_element.size(); i++)
        if (!is_element[i] && !is_poison((int64_t)i)) return false;
    return true;
}

} // namespace gyre::test
