#include "call_memory.h"
#include "../valid/placement.h"
#include "support/random.h"

#include <algorithm>
#include <numeric>

namespace gyre::fuzz {

using test::Dense;
using test::Placement;
using test::Tensor;

namespace {

constexpr size_t bytes_of_strides = 256;

std::vector<double> heads_first(const Dense &x) {
    std::vector<double> all;
    for (int64_t b = 0; b < x.batch; b++)
        for (int64_t h = 0; h < x.heads; h++)
            for (int64_t t = 0; t < x.seqlen; t++) {
                const double *row = x.data.data() + ((b * x.seqlen + t) * x.heads + h) * x.dim;
                all.insert(all.end(), row, row + x.dim);
            }
    return all;
}

} // namespace

CallMemory::CallMemory(const Problem &p, const Presentation &as)
    : dtype_(p.dtype), batch_(p.batch()), keys_(p.keys()), as_(as) {
    test::Random random(as.seed);
    for (size_t i = 0; i < bytes_of_strides; i++) choices_.push_back((uint8_t)random.integer(0, 255));
    reader_ = ByteReader(choices_.data(), as.seed ? choices_.size() : 0);
}

Tensor &CallMemory::written(const Dense &like, const std::vector<int64_t> &lengths) {
    Tensor &tensor = place(like, lengths);
    tensor.poison();
    return tensor;
}

Dense CallMemory::read(const Tensor &tensor, const Dense &like, const std::vector<int64_t> &lengths) const {
    if (as_.layout != GYRE_THD) return Dense(tensor.view(), as_.layout);
    const Dense packed(tensor.view(), GYRE_THD);
    Dense x(like.batch, like.seqlen, like.heads, like.dim);
    int64_t from = 0;
    for (int64_t b = 0; b < x.batch; from += lengths[(size_t)b++])
        std::copy_n(packed.data.data() + from * x.heads * x.dim, lengths[(size_t)b] * x.heads * x.dim,
                    x.data.data() + b * x.seqlen * x.heads * x.dim);
    return x;
}

gyre_tensor CallMemory::pool(const Dense &x) {
    const int64_t size = as_.page_size, pages = keys_ / size;
    if (table_.empty()) draw_table(pages);
    Dense all((int64_t)table_.size(), size, x.heads, x.dim);
    for (int64_t b = 0; b < x.batch; b++)
        for (int64_t j = 0; j < x.seqlen; j++)
            std::copy_n(x.data.data() + (b * x.seqlen + j) * x.heads * x.dim, x.heads * x.dim,
                        all.head((int64_t)table_[(size_t)(b * pages + j / size)], j % size, 0));
    return place_in(as_.layout == GYRE_BHSD ? GYRE_BHSD : GYRE_BSHD, all).view();
}

const gyre_tensor *CallMemory::table() { return list(table_, {batch_, (int64_t)table_.size() / batch_}); }

const gyre_tensor *CallMemory::list(const std::vector<double> &values, std::vector<int64_t> shape, gyre_dtype dtype) {
    Tensor &tensor = tensors_.emplace_back(dtype, std::move(shape));
    tensor.set_values(values);
    return view(tensor);
}

const gyre_tensor *CallMemory::positions(const std::vector<double> &all, int64_t tokens,
                                         const std::vector<int64_t> &lengths) {
    if (as_.layout != GYRE_THD) return list(all, {batch_, tokens}, GYRE_I64);
    std::vector<double> packed;
    for (int64_t b = 0; b < batch_; b++)
        packed.insert(packed.end(), all.begin() + b * tokens, all.begin() + b * tokens + lengths[(size_t)b]);
    return list(packed, {(int64_t)packed.size()}, GYRE_I64);
}

const gyre_tensor *CallMemory::bounds(const std::vector<int64_t> &lengths) {
    std::vector<double> all{0};
    for (const int64_t length : lengths) all.push_back(all.back() + (double)length);
    return list(all, {(int64_t)all.size()});
}

bool CallMemory::intact() const {
    return std::all_of(tensors_.begin(), tensors_.end(), [](const Tensor &t) { return t.surroundings_intact(); });
}

void CallMemory::draw_table(int64_t pages) {
    table_.resize((size_t)(batch_ * pages));
    std::iota(table_.begin(), table_.end(), 0);
    for (size_t i = table_.size(); i > 1; i--) std::swap(table_[i - 1], table_[reader_.number<uint16_t>() % i]);
}

Tensor &CallMemory::place(const Dense &x, const std::vector<int64_t> &lengths) {
    if (as_.layout != GYRE_THD) return place_in(as_.layout, x);
    Dense packed(1, std::accumulate(lengths.begin(), lengths.end(), INT64_C(0)), x.heads, x.dim);
    int64_t from = 0;
    for (int64_t b = 0; b < x.batch; from += lengths[(size_t)b++])
        std::copy_n(x.data.data() + b * x.seqlen * x.heads * x.dim, lengths[(size_t)b] * x.heads * x.dim,
                    packed.data.data() + from * x.heads * x.dim);
    return place_in(GYRE_THD, packed);
}

Tensor &CallMemory::place_in(gyre_layout layout, const Dense &x) {
    const std::vector<int64_t> shape = test::shape_in(layout, x.batch, x.seqlen, x.heads, x.dim);
    PlacementRules rules;
    rules.may_go_back = as_.page_size == 0;
    const Placement placement = as_.seed ? random_placement(reader_, shape, rules) : Placement{};
    Tensor &tensor = tensors_.emplace_back(dtype_, shape, placement);
    tensor.set_values(layout == GYRE_BHSD ? heads_first(x) : x.data);
    return tensor;
}

} // namespace gyre::fuzz
