/// gyre frequencies: writes the rotation frequencies that a model's configuration means.
#include "commands/commands.h"

#include "console/errors.h"
#include "console/terminal.h"
#include "files/array.h"
#include "files/c_table.h"
#include "files/npy.h"
#include "files/output_file.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "options/rope_frequencies.h"
#include "reports/operation_report.h"
#include "json/json_output.h"

#include <algorithm>
#include <limits>
#include <memory>

namespace gyre::cli {
namespace {

struct Options {
    CommonOptions common;
    std::string rope, out, c, c_name;
    std::optional<std::int64_t> head_dim, length;
};

void take_c_name(Options &options, const std::string &name) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const auto is_valid = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
    if (name.empty() || !is_letter(name[0]) || !std::all_of(name.begin(), name.end(), is_valid))
        refuse("--c-name", "'" + name + "'", "letters, digits and _: it becomes part of names in C");
    options.c_name = name;
}

void run(const Options &options) {
    if (options.out.empty() && options.c.empty()) refuse("--out", "missing, and --c too", "one of the two");
    refuse_without({"--c-name", !options.c_name.empty()}, {"--c", !options.c.empty()});
    check_outputs({{"--out", options.out}, {"--c", options.c}});
    const RopeConfig config = read_rope(options.rope);
    const std::optional<std::int64_t> head_dim = options.head_dim ? options.head_dim : implied_head_dim(config);
    if (!head_dim) refuse("--head-dim", "missing, and not in --rope either", "the features of a head");
    const std::int64_t rotary_dim = rotary_dim_of(config, *head_dim);
    if (rotary_dim % 2 != 0 || rotary_dim > *head_dim) {
        refuse("--head-dim", std::to_string(*head_dim) + ", of which " + std::to_string(rotary_dim) + " rotate",
               "an even number of them that rotate");
    }
    const Frequencies frequencies = frequencies_of(config, rotary_dim, *head_dim, options.length.value_or(0));

    if (!options.c.empty())
        write_c_table("--c", options.c, options.c_name.empty() ? "gyre" : options.c_name, frequencies.inv_freq,
                      frequencies.attention_factor);
    JsonObject json;
    json.add("operation", "frequencies");
    json.add("rope_type", config.rope_type);
    json.add("rotary_dim", rotary_dim);
    json.add("attention_factor", frequencies.attention_factor);
    if (!options.out.empty()) {
        Array array = make_array("--out", GYRE_F64, {rotary_dim / 2});
        std::copy(frequencies.inv_freq.begin(), frequencies.inv_freq.end(), array.as<double>());
        write_npy({{options.out, &array}});
        json.add("out", to_json({"out", options.out, &array}));
    }
    print(options.common.json ? json.text() : "attention_factor " + json_number(frequencies.attention_factor));
}

} // namespace

void add_frequencies(const Command &program) {
    const auto options = std::make_shared<Options>();
    const Command command = program.add("frequencies", "write inv_freq of a model's rotary settings");
    command.show_example(
        "gyre frequencies --rope '{\"rope_type\": \"linear\", \"factor\": 4}' --head-dim 64 --out f.npy");
    add_text(command, "--rope", options->rope, "JSON|@FILE", "a model configuration, or the rotary part of one")
        .require();
    add_whole_number(command, "--head-dim", options->head_dim, 1, std::numeric_limits<std::int32_t>::max(),
                     "features of a head; default: as --rope says");
    add_whole_number(command, "--length", options->length, 1, std::int64_t(1) << 40,
                     "tokens of the sequence, for rules that depend on it");
    add_text(command, "--out", options->out, "F.npy", "float64, [rotary_dim/2], radians a token");
    add_text(command, "--c", options->c, "F.h",
             "a C table for gyre_embedded_angles(), for machines without an operating system");
    command.add_option("--c-name", "NAME",
                       "what the names in F.h begin with, default gyre: of several tables of one program",
                       [options](const std::string &name) { take_c_name(*options, name); });
    add_json(command, options->common);
    command.run([options] { run(*options); });
}

} // namespace gyre::cli
