#include "tensors.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <string_view>

namespace gyre_torch {
namespace {

/// Element types as PyTorch's C interface counts them, in the order of gyre_dtype.
const auto &known_dtypes() {
    static const std::array known = {
        aoti_torch_dtype_float32(), aoti_torch_dtype_float16(), aoti_torch_dtype_bfloat16(), aoti_torch_dtype_float64(),
        aoti_torch_dtype_int32(),   aoti_torch_dtype_int64(),   aoti_torch_dtype_bool()};
    return known;
}

gyre_dtype known_dtype(const Tensor &tensor, const char *name) {
    int32_t dtype;
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(tensor.get(), &dtype));
    const auto &known = known_dtypes();
    const auto found = std::find(known.begin(), known.end(), dtype);
    const char *expected =
        std::string_view(name) == "mask" ? "bool" : "float32, float16, bfloat16, float64, int32, int64 or bool";
    expect(found != known.end(), name, ": got a type that gyre does not take, expected ", expected);
    return static_cast<gyre_dtype>(found - known.begin());
}

} // namespace

std::span<const int64_t> Tensor::sizes() const {
    int64_t rank, *sizes;
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_dim(handle, &rank));
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_sizes(handle, &sizes));
    return {sizes, static_cast<std::size_t>(rank)};
}

gyre_tensor view(const Tensor &tensor, const char *name) {
    const auto sizes = tensor.sizes();
    expect(sizes.size() <= GYRE_MAX_RANK, name, ": got rank ", sizes.size(), ", expected at most ", GYRE_MAX_RANK);
    int32_t device;
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(tensor.get(), &device));
    expect(device == aoti_torch_device_type_cpu(), name, ": is not in the CPU's memory");
    gyre_tensor result{};
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_data_ptr(tensor.get(), &result.data));
    result.dtype = known_dtype(tensor, name);
    result.device = GYRE_CPU;
    result.rank = static_cast<int32_t>(sizes.size());
    int64_t *strides;
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_strides(tensor.get(), &strides));
    int64_t elements = 1;
    for (std::size_t i = 0; i < sizes.size(); i++) {
        result.shape[i] = sizes[i];
        result.strides[i] = strides[i];
        elements *= sizes[i];
    }
    // Without elements strides mean nothing, and those of an expanded tensor are 0, also after contiguous().
    if (elements == 0 && result.rank > 0) result.strides[result.rank - 1] = 1;
    return result;
}

namespace {

/// A tensor whose dimension order[0] lies outermost in memory.
Tensor empty_in_order(const int64_t *shape, const int *order, std::size_t rank, gyre_dtype dtype) {
    int64_t strides[GYRE_MAX_RANK];
    int64_t stride = 1;
    for (std::size_t i = rank; i-- > 0;) {
        strides[order[i]] = stride;
        stride *= std::max<int64_t>(shape[order[i]], 1);
    }
    AtenTensorHandle made;
    TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(static_cast<int64_t>(rank), shape, strides, known_dtypes()[dtype],
                                                    aoti_torch_device_type_cpu(), 0, &made));
    return Tensor(made);
}

} // namespace

Tensor empty(const int64_t *shape, std::initializer_list<int> order, gyre_dtype dtype) {
    return empty_in_order(shape, order.begin(), order.size(), dtype);
}

Tensor empty(std::span<const int64_t> shape, gyre_dtype dtype) {
    int order[GYRE_MAX_RANK];
    std::iota(order, order + shape.size(), 0);
    return empty_in_order(shape.data(), order, shape.size(), dtype);
}

Tensor empty_like(const Tensor &like) {
    AtenTensorHandle same, made;
    TORCH_ERROR_CODE_CHECK(aoti_torch_new_tensor_handle(like.get(), &same));
    const auto result = torch::stable::empty_like(torch::stable::Tensor(same));
    TORCH_ERROR_CODE_CHECK(aoti_torch_new_tensor_handle(result.get(), &made));
    return Tensor(made);
}

namespace {

/// The library's text with the names that the operators' arguments have, and what to do about features that lie apart.
std::string in_words_of_pytorch(std::string text) {
    constexpr std::string_view pages = "page_table", apart = "expected the last to be 1";
    for (std::size_t at; (at = text.find(pages)) != std::string::npos;) text.replace(at, pages.size(), "block_table");
    const bool are_apart =
        text.size() >= apart.size() && text.compare(text.size() - apart.size(), apart.size(), apart) == 0;
    return are_apart ? text + ", as in " + text.substr(0, text.find(':')) + ".contiguous()" : text;
}

} // namespace

void check(gyre_status status) {
    if (status != GYRE_OK) throw std::runtime_error(in_words_of_pytorch(gyre_last_error()));
}

} // namespace gyre_torch
