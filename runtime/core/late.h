/// An object on the stack that only some calls make.
#pragma once
#include <new>
#include <type_traits>
#include <utility>

namespace gyre {

/// Memory for one that is not touched until it is made. GCC 12 clears all of an empty std::optional, however large.
template <typename Type>
class Late {
    static_assert(std::is_trivially_destructible_v<Type>, "nothing destroys it");

public:
    Late() {}
    Late(const Late &) = delete;
    Late &operator=(const Late &) = delete;

    template <typename... Given>
    Type &make(Given &&...given) {
        return *new (memory) Type(std::forward<Given>(given)...);
    }

private:
    alignas(Type) unsigned char memory[sizeof(Type)];
};

} // namespace gyre
