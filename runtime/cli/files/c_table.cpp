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

} // namespace

void write_c_table(const std::string &option, const std::string &path, const std::vector<double> &frequencies,
                   double attention_factor) {
    std::string text = "/* Frequencies for gyre_embedded_angles(), and its scale. Written by gyre frequencies. */\n"
                       "#ifndef GYRE_FREQUENCIES_H\n#define GYRE_FREQUENCIES_H\n\n#include <stdint.h>\n\n";
    text += "#define GYRE_ROTARY_DIM " + std::to_string(2 * frequencies.size()) + "\n";
    text += "#define GYRE_ATTENTION_FACTOR " + json_number(attention_factor) + "f\n";
    text += "static const uint64_t gyre_frequencies[GYRE_ROTARY_DIM / 2] = {\n";
    for (const double frequency : frequencies) text += "    " + std::to_string(turns_of(option, frequency)) + "u,\n";
    text += "};\n\n#endif\n";

    const SignalsHeld signals;
    OutputFile file(path);
    file.write(text.data(), text.size());
    file.commit();
}

} // namespace gyre::cli
