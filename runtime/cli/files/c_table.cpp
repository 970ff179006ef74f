#include "files/c_table.h"

#include "console/errors.h"
#include "files/output_file.h"
#include "json/json_output.h"

#include <cstdint>

namespace gyre::cli {
namespace {

/// The bits of gyre_embedded_frequency(), which multiplies in the same order.
std::uint64_t turns_of(const std::string &option, double radians) {
    const double turns = radians * 0.15915494309189533577;
    if (!(turns > 0 && turns < 1)) {
        refuse(option, json_number(radians) + " radians a token, from --rope", "frequencies above 0 and below 2 pi");
    }
    return static_cast<std::uint64_t>(turns * 18446744073709551616.0);
}

/// FNV-1a in 32 bits.
std::string hash_of(const std::string &text) {
    std::uint32_t hash = 2166136261u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return std::to_string(hash) + "u";
}

std::string in_capitals(std::string name) {
    for (char &c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return name;
}

} // namespace

void write_c_table(const std::string &option, const std::string &path, const std::string &name,
                   const std::vector<double> &frequencies, double attention_factor) {
    const std::string prefix = in_capitals(name), guard = prefix + "_FREQUENCY_TABLE";
    std::string table = "#define " + prefix + "_ROTARY_DIM " + std::to_string(2 * frequencies.size()) + "\n";
    table += "#define " + prefix + "_ATTENTION_FACTOR " + json_number(attention_factor) + "f\n";
    table += "static const uint64_t " + name + "_frequencies[" + prefix + "_ROTARY_DIM / 2] = {\n";
    for (const double frequency : frequencies) table += "    " + std::to_string(turns_of(option, frequency)) + "u,\n";
    table += "};\n";
    const std::string text =
        "/* Frequencies for gyre_embedded_angles(), and its scale. Written by gyre frequencies. */\n#ifndef " + guard +
        "\n#define " + guard + " " + hash_of(table) + "\n\n#include <stdint.h>\n\n" + table + "\n#elif " + guard +
        " != " + hash_of(table) + "\n#error \"another table is called " + name +
        "_frequencies: give one of them another name, gyre frequencies --c-name\"\n#endif\n";

    const SignalsHeld signals;
    OutputFile file(path);
    file.write(text.data(), text.size());
    file.commit();
}

} // namespace gyre::cli
