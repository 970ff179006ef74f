/// gyre plot: what rotary embeddings look like, as numbers that the rotary kernels computed and as a PNG; and what attention
/// looks at (plot_attention.h).
#include "commands/commands.h"

#include "console/errors.h"
#include "console/terminal.h"
#include "files/npy.h"
#include "files/output_file.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "plots/plot_attention.h"
#include "plots/plot_data.h"
#include "plots/plot_script.h"
#include "reports/operation_report.h"
#include "json/json_output.h"

#include <memory>

namespace gyre::cli {
namespace {

/// One kind of plot: its command, its script in bench/plots, and how its numbers are made of rotated heads.
struct Plot {
    const char *name;
    const char *help;
    const char *data_help;
    const char *example;
    Array (*numbers)(const RotatedHeads &);
    std::int64_t length; // positions, unless asked for otherwise
};

const Plot plots[] = {{"angles", "the angles position * inv_freq[pair], modulo one turn",
                       "float64, [length, rotary_dim/2]: radians in [0, 2 pi)",
                       "gyre plot angles --out angles.png --head-dim 64", angles, 256},
                      {"decay", "how the dot product of equal vectors falls with their distance",
                       "float64, [2, length]: the dot product, and RoFormer's mean |S_j|; both over their value at 0",
                       "gyre plot decay --out decay.png --head-dim 64", decay, 1024}};

struct Options {
    CommonOptions common;
    RotationOptions rotation;
    std::string out, data;
    std::optional<std::int64_t> head_dim, length;
};

std::int64_t head_dim_of(const Options &options) {
    if (options.head_dim) return *options.head_dim;
    const std::optional<RopeConfig> config = rope_config(options.rotation);
    const std::int64_t usual = 128;
    return config ? implied_head_dim(*config).value_or(usual) : usual;
}

void run(const Plot &plot, const Options &options) {
    if (options.out.empty() && options.data.empty()) refuse("--out", "missing", "it, or --data, or both");
    check_outputs({{"--out", options.out}, {"--data", options.data}});
    Progress progress;
    progress.show("rotating");
    const RotatedHeads heads(options.rotation, options.common, head_dim_of(options),
                             options.length.value_or(plot.length));
    const Array numbers = plot.numbers(heads);

    JsonObject json;
    json.add("operation", std::string("plot ") + plot.name);
    json.add("kernel", heads.kernel);
    json.add("target", target_of_kernel(heads.kernel));
    json.add("rotary_dim", 2 * heads.pairs);
    json.add("length", heads.length);
    std::string files;
    if (!options.out.empty()) {
        progress.show("drawing " + options.out);
        draw(plot.name, numbers, options.out);
        json.add("out", options.out);
        files = options.out;
    }
    if (!options.data.empty()) {
        write_npy({{options.data, &numbers}});
        json.add("data", to_json({"data", options.data, &numbers}));
        files += (files.empty() ? "" : ", ") + options.data;
    }
    progress.clear();
    print(options.common.json ? json.text()
                              : files + ": " + std::to_string(heads.pairs) + " pairs at " +
                                    std::to_string(heads.length) + " positions by " + heads.kernel);
}

} // namespace

void add_plot(const Command &program) {
    const Command group =
        program.add("plot", "draw what rotary embeddings and attention do, with Python and matplotlib");
    group.show_example("gyre plot decay --out decay.png --head-dim 64");
    add_plot_attention(group);
    for (const Plot &plot : plots) {
        const auto options = std::make_shared<Options>();
        const Command command = group.add(plot.name, plot.help);
        command.show_example(plot.example);
        add_text(command, "--out", options->out, "F.png", "the picture");
        add_text(command, "--data", options->data, "F.npy", plot.data_help);
        const std::int64_t longest = std::int64_t(1) << 20;
        const std::int64_t largest = std::int64_t(1) << 16;
        add_whole_number(command, "--head-dim", options->head_dim, 2, largest, "default: as --rope says, else 128");
        add_whole_number(command, "--length", options->length, 2, longest,
                         "positions, default " + std::to_string(plot.length));
        add_rotation(command, options->rotation);
        add_target_and_threads(command, options->common);
        add_json(command, options->common);
        command.run([&plot, options] { run(plot, *options); });
    }
}

} // namespace gyre::cli
