#include "files/npy_header.h"

#include "console/errors.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

namespace gyre::cli {
namespace {

struct TypeCode {
    gyre_dtype dtype;
    const char *code; // without the byte order
    const char *descr;
};

constexpr std::size_t most_dimensions = 64; // as in NumPy
constexpr std::size_t longest_string = 64;  // no key and no plain type has as many characters

const TypeCode type_codes[] = {{GYRE_F16, "f2", "<f2"}, {GYRE_F32, "f4", "<f4"}, {GYRE_F64, "f8", "<f8"},
                               {GYRE_I32, "i4", "<i4"}, {GYRE_I64, "i8", "<i8"}, {GYRE_BOOL, "b1", "|b1"}};

/// Reads the few Python literals that the dictionary is made of.
class Literals {
public:
    Literals(const std::string &subject, std::string_view text) : subject_(subject), rest_(text) {}

    [[noreturn]] void malformed() const { refuse(subject_, "a malformed header", "an .npy file as NumPy writes it"); }

    bool take(std::string_view token) {
        skip_blanks();
        if (rest_.substr(0, token.size()) != token) return false;
        rest_.remove_prefix(token.size());
        return true;
    }
    void expect(std::string_view token) {
        if (!take(token)) malformed();
    }
    void expect_end() {
        skip_blanks();
        if (!rest_.empty()) malformed();
    }
    std::string quoted() {
        const char quote = take("'") ? '\'' : take("\"") ? '"' : '\0';
        const std::size_t length = quote ? rest_.substr(0, longest_string + 1).find(quote) : std::string_view::npos;
        if (length == std::string_view::npos) malformed();
        std::string text(rest_.substr(0, length));
        rest_.remove_prefix(length + 1);
        return text;
    }
    std::int64_t extent() {
        take(" ");
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc() || value < 0) malformed();
        rest_.remove_prefix(std::size_t(end - rest_.data()));
        take("L"); // Python 2 wrote 3L
        return value;
    }
    Shape tuple() {
        Shape shape;
        expect("(");
        while (!take(")")) {
            if (shape.size() == most_dimensions) {
                refuse(subject_, "more than " + std::to_string(most_dimensions) + " dimensions",
                       "as many as NumPy allows");
            }
            shape.push_back(extent());
            if (!take(",")) {
                expect(")");
                break;
            }
        }
        return shape;
    }

private:
    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n\t"), rest_.size())); }

    const std::string &subject_;
    std::string_view rest_;
};

gyre_dtype parse_descr(const std::string &subject, const std::string &descr, const char *types) {
    for (const TypeCode &type : type_codes) {
        if (descr.size() != 3 || descr.compare(1, 2, type.code) != 0) continue;
        if (descr[0] == '>') refuse(subject, "big-endian numbers (" + descr + ")", "little-endian ones");
        return type.dtype;
    }
    refuse(subject, "elements of type '" + descr + "'", types);
}

} // namespace

NpyHeader parse_npy_dictionary(const std::string &subject, const std::string &text, const char *types) {
    NpyHeader header;
    std::set<std::string> keys;
    Literals literals(subject, text);
    literals.expect("{");
    while (!literals.take("}")) {
        const std::string key = literals.quoted();
        literals.expect(":");
        if (!keys.insert(key).second) refuse(subject, "a header with two entries '" + key + "'", "one of each");
        if (key == "descr") {
            if (literals.take("[")) refuse(subject, "a structured type", "plain numbers");
            header.dtype = parse_descr(subject, literals.quoted(), types);
        } else if (key == "fortran_order") {
            if (literals.take("True")) refuse(subject, "Fortran order", "C order (numpy.ascontiguousarray)");
            literals.expect("False");
        } else if (key == "shape") {
            header.shape = literals.tuple();
        } else {
            literals.malformed();
        }
        literals.take(",");
    }
    literals.expect_end();
    if (keys.size() != 3) literals.malformed();
    return header;
}

std::string format_npy_header(gyre_dtype dtype, const Shape &shape) {
    std::string text = "{'descr': '";
    for (const TypeCode &type : type_codes) {
        if (type.dtype == dtype) text += type.descr;
    }
    text += "', 'fortran_order': False, 'shape': (";
    for (std::int64_t extent : shape) text += std::to_string(extent) + ", "; // (3, ) is a tuple, (3) is not
    text += "), }";
    const std::size_t preamble = 10;
    const std::size_t alignment = 64;
    text.append(alignment - 1 - (preamble + text.size()) % alignment, ' ');
    text += '\n';
    const char length[] = {char(text.size() & 0xff), char(text.size() >> 8)};
    return std::string("\x93NUMPY\x01\x00", 8) + std::string(length, 2) + text;
}

} // namespace gyre::cli
