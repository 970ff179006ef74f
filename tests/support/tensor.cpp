#include "tensor.h"
#include "element.h"
#include "random.h"

#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace gyre::test {
namespace {

constexpr int64_t guard = 96; // elements before and after: more than a vector register or a cache line

/// Calls visit(offset, stride, count) for every run of the last dimension in C order; offsets are relative to element
/// (0, 0, …).
template <typename Visit>
void each_run_of(const int64_t *shape, const int64_t *strides, int rank, int64_t offset, const Visit &visit) {
    if (rank == 0) return visit(offset, int64_t{1}, int64_t{1});
    if (rank == 1) return visit(offset, strides[0], shape[0]);
    for (int64_t i = 0; i < shape[0]; i++)
        each_run_of(shape + 1, strides + 1, rank - 1, offset + i * strides[0], visit);
}

int64_t count_of(const int64_t *shape, int rank) {
    return std::accumulate(shape, shape + rank, int64_t{1}, std::multiplies<int64_t>());
}

} // namespace

double read_element(const gyre_tensor &view, int64_t offset) {
    double element;
    read_elements(view, offset, 1, 1, &element);
    return element;
}

void read_elements(const gyre_tensor &view, int64_t offset, int64_t stride, int64_t count, double *to) {
    const auto *data = static_cast<const unsigned char *>(view.data);
    decode_elements(view.dtype, data + offset * element_size(view.dtype), stride, count, to);
}

std::vector<double> values_of(const gyre_tensor &view) {
    std::vector<double> values((size_t)count_of(view.shape, view.rank));
    double *next = values.data();
    each_run_of(view.shape, view.strides, view.rank, 0, [&](int64_t offset, int64_t stride, int64_t count) {
        read_elements(view, offset, stride, count, next);
        next += count;
    });
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
    poison_elements(dtype_, memory_.data(), 1, elements);
}

template <typename Visit>
void Tensor::each_run(Visit visit) const {
    each_run_of(shape_.data(), strides_.data(), (int)shape_.size(), first_, visit);
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

int64_t Tensor::count() const { return count_of(shape_.data(), (int)shape_.size()); }

const unsigned char *Tensor::at(int64_t offset) const { return memory_.data() + offset * element_size(dtype_); }
unsigned char *Tensor::at(int64_t offset) { return memory_.data() + offset * element_size(dtype_); }

std::vector<double> Tensor::values() const {
    std::vector<double> values((size_t)count());
    double *next = values.data();
    each_run([&](int64_t offset, int64_t stride, int64_t count) {
        decode_elements(dtype_, at(offset), stride, count, next);
        next += count;
    });
    return values;
}

std::vector<uint64_t> Tensor::bits() const {
    std::vector<uint64_t> bits((size_t)count());
    uint64_t *next = bits.data();
    each_run([&](int64_t offset, int64_t stride, int64_t count) {
        read_bits(dtype_, at(offset), stride, count, next);
        next += count;
    });
    return bits;
}

void Tensor::set_values(const std::vector<double> &values) {
    if ((int64_t)values.size() < count()) throw std::out_of_range("Tensor::set_values: too few values");
    set_values(values.data());
}

void Tensor::set_values(const double *values) {
    each_run([&](int64_t offset, int64_t stride, int64_t count) {
        encode_elements(dtype_, at(offset), stride, count, values);
        values += count;
    });
}

int64_t Tensor::offset_of(const std::vector<int64_t> &index) const {
    int64_t offset = first_;
    for (size_t k = 0; k < index.size(); k++) offset += index[k] * strides_[k];
    return offset;
}

void Tensor::set(const std::vector<int64_t> &index, double value) {
    encode_elements(dtype_, at(offset_of(index)), 1, 1, &value);
}

double Tensor::get(const std::vector<int64_t> &index) const {
    double value;
    decode_elements(dtype_, at(offset_of(index)), 1, 1, &value);
    return value;
}

void Tensor::fill_normal(uint64_t seed, double scale) {
    if (scale == 1) return set_values(kept_normal_numbers(seed, count()));
    set_values(normal_numbers(seed, count(), scale));
}

uint64_t Tensor::fingerprint() const {
    uint64_t prints[4] = {1, 2, 3, 4}; // that do not wait for one another
    const auto mix = [&](uint64_t &print, uint64_t word) {
        print = (print ^ word) * 0x9e3779b97f4a7c15u;
        print ^= print >> 32;
    };
    const unsigned char *next = memory_.data();
    size_t left = memory_.size();
    for (; left >= sizeof prints; left -= sizeof prints, next += sizeof prints) {
        uint64_t words[4];
        std::memcpy(words, next, sizeof words);
        for (int lane = 0; lane < 4; lane++) mix(prints[lane], words[lane]);
    }
    for (; left > 0; left--, next++) mix(prints[0], *next);
    for (int lane = 1; lane < 4; lane++) mix(prints[0], prints[lane]);
    return prints[0];
}

void Tensor::fill_uniform_integers(uint64_t seed, int64_t lowest, int64_t highest) {
    Random random(seed);
    std::vector<double> values((size_t)count());
    for (double &value : values) value = (double)random.integer(lowest, highest);
    set_values(values);
}

void Tensor::fill(double value) { set_values(std::vector<double>((size_t)count(), value)); }

void Tensor::poison() {
    each_run(
        [&](int64_t offset, int64_t stride, int64_t count) { poison_elements(dtype_, at(offset), stride, count); });
}

bool Tensor::elements_poisoned() const {
    bool all = true;
    each_run([&](int64_t offset, int64_t stride, int64_t count) {
        all = all && are_poison(dtype_, at(offset), stride, count);
    });
    return all;
}

bool Tensor::surroundings_intact() const {
    thread_local std::vector<unsigned char> surroundings; // tensors of tests are many: their memory is taken once
    if (surroundings.size() < memory_.size()) surroundings.resize(memory_.size());
    std::memcpy(surroundings.data(), memory_.data(), memory_.size());
    const int64_t size = element_size(dtype_);
    each_run([&](int64_t offset, int64_t stride, int64_t count) {
        poison_elements(dtype_, surroundings.data() + offset * size, stride, count);
    });
    return are_poison(dtype_, surroundings.data(), 1, (int64_t)memory_.size() / size);
}

} // namespace gyre::test
