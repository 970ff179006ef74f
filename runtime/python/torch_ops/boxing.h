/// Functions of tensors and numbers as PyTorch calls them: arguments come as words on a stack, and results go back there.
#pragma once
#include "tensors.h"

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace gyre_torch {

/// Takes an argument from its word. A tensor's handle is the callee's to delete.
template <typename Argument>
Argument take(StableIValue word) {
    if constexpr (std::is_same_v<Argument, Tensor>) {
        return Tensor(torch::stable::detail::to<AtenTensorHandle>(word));
    } else if constexpr (std::is_same_v<Argument, OptionalTensor>) {
        const auto handle = torch::stable::detail::to<std::optional<AtenTensorHandle>>(word);
        return handle ? OptionalTensor(std::in_place, *handle) : std::nullopt;
    } else {
        return torch::stable::detail::to<Argument>(word);
    }
}

/// Makes a result's word. Its handle is the caller's to delete.
inline StableIValue put(Tensor &&result) { return torch::stable::detail::from(result.release()); }

template <typename Result, typename... Parameters, std::size_t... I>
void call_boxed(Result (*function)(Parameters...), StableIValue *stack, std::index_sequence<I...>) {
    std::tuple<std::remove_cvref_t<Parameters>...> arguments{take<std::remove_cvref_t<Parameters>>(stack[I])...};
    if constexpr (std::is_void_v<Result>) {
        std::apply(function, arguments);
    } else if constexpr (std::is_same_v<Result, Tensor>) {
        stack[0] = put(std::apply(function, arguments));
    } else {
        auto results = std::apply(function, arguments);
        std::apply([&stack](auto &...each) { ((*stack++ = put(std::move(each))), ...); }, results);
    }
}

template <typename Result, typename... Parameters>
void check_and_call(Result (*function)(Parameters...), StableIValue *stack, uint64_t count) {
    expect(count == sizeof...(Parameters), "gyre: got ", count, " arguments, expected ", sizeof...(Parameters));
    call_boxed(function, stack, std::index_sequence_for<Parameters...>());
}

/// What an operator's impl() is given. TORCH_BOX does the same with tensors whose owners are counted: each costs an allocation
/// and a copy of its handle, 0.5 us in a call of three.
template <auto function>
void boxed(StableIValue *stack, uint64_t count, uint64_t) {
    check_and_call(function, stack, count);
}

} // namespace gyre_torch
