#include "npy_header.h"

#include "errors.h"

#include <charconv>
#include <cstring>

namespace gyre::cli {
namespace {

struct TypeCode {
    gyre_dtype dtype;
    const char *code; // without the byte order
    const char *descr;
};

const TypeCode type_codes[] = {{GYRE_F16, "f2", "<f2"}, {GYRE_F32, "f4", "<f4"}, {GYRE_F64, "f8", "<f8"},
                               {GYRE_I32, "i4", "<i4"}, {GYRE_I64, "i8", "<i8"}, {GYRE_BOOL, "b1", "|b1"}};

/// Reads the few Python literals that the dictionary is made of.
class Literals {
public:
    Literals(const std::string &subject, const std::string &text) : subject_(subject), at_(text.c_str()) {}

    [[noreturn]] void malformed() const { refuse(subject_, "a malformed header", "an .npy file as NumPy writes it"); }

    bool take(const char *token) {
        while (*at_ == ' ' || *at_ == '\n' || *at_ == '\t') at_++;
        const std::size_t length = std::strlen(token);
        if (std::strncmp(at_, token, length) != 0) return false;
        at_ += length;
        return true;
    }
    void expect(const char *token) {
        if (!take(token)) malformed();
    }
    std::string quoted() {
        const char quote = take("'") ? '\'' : take("\"") ? '"' : '\0';
        const char *end = quote ? std::strchr(at_, quote) : nullptr;
        if (!end) malformed();
        std::string text(at_, end);
        at_ = end + 1;
        return text;
    }
    std::int64_t extent() {
        take(" ");
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(at_, at_ + std::strlen(at_), value);
        if (error != std::errc() || value < 0) malformed();
        at_ = end;
        take("L"); // Python 2 wrote 3L
        return value;
    }
    Shape tuple() {
        Shape shape;
        expect("(");
        while (!take(")")) {
            shape.push_back(extent());
            if (!take(",")) {
                expect(")");
                break;
            }
        }
        return shape;
    }

private:
    const std::string &subject_;
    const char *at_;
};

gyre_dtype parse_descr(const std::string &subject, const std::string &descr) {
    const std::string expected = "float16, float32, float64, bool, int32 or int64";
    for (const TypeCode &type : type_codes) {
        if (descr.size() != 3 || descr.compare(1, 2, type.code) != 0) continue;
        if (descr[0] == '>') refuse(subject, "big-endian numbers (" + descr + ")", "little-endian ones");
        return type.dtype;
    }
    refuse(subject, "elements of type '" + descr + "'", expected);
}

} // namespace

NpyHeader parse_npy_dictionary(const std::string &subject, const std::string &text) {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    Literals literals(subject, text);
    literals.expect("{");
    while (!literals.take("}")) {
        const std::string key = literals.quoted();
        literals.expect(":");
        if (key == "descr") {
            if (literals.take("[")) refuse(subject, "a structured type", "plain numbers");
            header.dtype = parse_descr(subject, literals.quoted());
            has_descr = true;
        } else if (key == "fortran_order") {
            if (literals.take("True")) refuse(subject, "Fortran order", "C order (numpy.ascontiguousarray)");
            literals.expect("False");
            has_order = true;
        } else if (key == "shape") {
            header.shape = literals.tuple();
            has_shape = true;
        } else {
            literals.malformed();
        }
        literals.take(",");
    }
    if (!has_descr || !has_order || !has_shape) literals.malformed();
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
    const std::size_t preamble = 10, alignment = 64;
    text.append(alignment - 1 - (preamble + text.size()) % alignment, ' ');
    text += '\n';
    const char length[] = {char(text.size() & 0xff), char(text.size() >> 8)};
    return std::string("\x93NUMPY\x01\x00", 8) + std::string(length, 2) + text;
}

} // namespace gyre::cli
