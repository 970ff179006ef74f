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

/// A text of a table, in the row itself: tables of views would be pointers, which a program that is loaded anywhere relocates one
/// by one, with 24 bytes for each.
template <size_t most>
class RowText {
public:
    template <size_t size>
    constexpr RowText(const char (&text)[size]) {
        static_assert(size <= most, "the text is longer than the row has room for");
        for (size_t i = 0; i + 1 < size; i++) bytes[i] = text[i];
    }
    constexpr operator std::string_view() const { return bytes.data(); }
    friend constexpr bool operator==(const RowText &a, std::string_view b) { return std::string_view(a) == b; }
    friend constexpr bool operator!=(const RowText &a, std::string_view b) { return std::string_view(a) != b; }

private:
    std::array<char, most> bytes{};
};

struct ArgumentRow {
    enum Kind : uint8_t { input_scalar, input_buffer, output_buffer, score_inputs };

    RowText<22> name;
    RowText<12> type;
    int8_t rank;
    RowText<13> when; // "always", or what the kernels that have it are made with
    Kind kind;
};

/// An argument's key: FooArguments::scale. The place is one of its table's, so that no other table takes the name.
template <auto place, typename Type, int rank>
struct ArgumentKey {
    using Value = std::conditional_t<(rank > 0), Buffer, const typename Type::scalar>;
};
template <auto place>
struct ScoreInputsName {};

/// A set of rows of a table.
class RowSet {
public:
    constexpr void add(size_t row) { words[row / of_word] |= uint64_t{1} << row % of_word; }
    /// True if none of the others is missing here.
    constexpr bool has_all(const RowSet &others) const {
        for (size_t i = 0; i < count; i++)
            if (others.words[i] & ~words[i]) return false;
        return true;
    }

private:
    static constexpr size_t of_word = 64, count = 2;
    uint64_t words[count] = {};
};

/// Where a kernel has the arguments of its table; found once for each kernel. Place 0 is its user context. An argument that it
/// does not have goes to `spare`, where nothing reads it.
struct ArgumentPlaces {
    static constexpr size_t most = 96;          // of a table
    static constexpr uint8_t spare = most + 16; // beside the inputs of a score function

    std::array<uint8_t, most> of{};
    RowSet required; // those that the kernel has
};

/// The places of a table whose kernels all have all of its arguments.
template <typename Table>
constexpr ArgumentPlaces fixed_places() {
    ArgumentPlaces places;
    for (size_t i = 0; i < Table::argument_count; i++) {
        places.of[i] = static_cast<uint8_t>(1 + i);
        places.required.add(i);
    }
    return places;
}

template <typename Table>
constexpr bool has_fixed_places() {
    static_assert(Table::argument_count < ArgumentPlaces::most, "ArgumentPlaces has a place for each row");
    for (const ArgumentRow &row : Table::argument_rows)
        if (row.when != "always") return false;
    return true;
}

} // namespace gyre
