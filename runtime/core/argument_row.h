/// A row of a table of arguments as the runtime has it, its name in code, and where a kernel has it.
#pragma once
#include "common/argument_types.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace gyre {

class Buffer;

struct ArgumentRow {
    enum Kind { input_scalar, input_buffer, output_buffer, score_inputs };

    std::string_view name, type;
    int rank;
    std::string_view when; // "always", or what the kernels that have it are made with
    Kind kind;
};

/// An argument's key: FooArguments::scale. The place is one of its table's, so that no other table takes the name.
template <auto place, typename Type, int rank>
struct ArgumentKey {
    using Value = std::conditional_t<(rank > 0), Buffer, const typename Type::scalar>;
};
template <auto place>
struct ScoreInputsName {};

/// Where a kernel has the arguments of its table; found once for each kernel. Place 0 is its user context. An argument that it
/// does not have goes to `spare`, where nothing reads it.
struct ArgumentPlaces {
    static constexpr size_t most = 64;          // of a table
    static constexpr uint8_t spare = most + 16; // beside the inputs of a score function

    std::array<uint8_t, most> of{};
    uint64_t required = 0; // a bit for each row that the kernel has
};

/// The places of a table whose kernels all have all of its arguments.
template <typename Table>
constexpr ArgumentPlaces fixed_places() {
    ArgumentPlaces places;
    for (size_t i = 0; i < Table::argument_count; i++) {
        places.of[i] = static_cast<uint8_t>(1 + i);
        places.required |= uint64_t{1} << i;
    }
    return places;
}

template <typename Table>
constexpr bool has_fixed_places() {
    static_assert(Table::argument_count < ArgumentPlaces::most, "ArgumentPlaces::required has a bit for each row");
    for (const ArgumentRow &row : Table::argument_rows)
        if (row.when != "always") return false;
    return true;
}

} // namespace gyre
