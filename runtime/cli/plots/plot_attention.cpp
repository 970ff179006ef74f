#include "plots/plot_attention.h"

#include "console/errors.h"
#include "console/terminal.h"
#include "files/npy.h"
#include "files/output_file.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "plots/plot_script.h"
#include "json/json_output.h"

#include <memory>
#include <optional>

namespace gyre::cli {
namespace {

enum class Rows { batch, layer };

struct Options {
    CommonOptions common;
    std::string probabilities, out;
    std::optional<Rows> rows;
};

constexpr std::int64_t most_maps = 64; // more are too small to read

double element(const Array &a, std::int64_t i) {
    return a.dtype == GYRE_F64 ? a.as<double>()[i] : double(a.as<float>()[i]);
}

/// [rows, heads, seqlen_q, seqlen_kv], as f64.
Array read_maps(const std::string &path) {
    const std::string subject = "--probabilities " + path;
    const Array given = read_npy("--probabilities", path, "float16, float32 or float64");
    if (given.dtype != GYRE_F32 && given.dtype != GYRE_F64) refuse(subject, dtype_name(given.dtype), "f32 or f64");
    if (given.shape.size() < 2 || given.shape.size() > 4 || given.size() == 0)
        refuse(subject, "shape " + shape_text(given.shape),
               "[batch or layers, heads, seqlen_q, seqlen_kv], or the last 2 or 3");
    Shape shape = given.shape;
    shape.insert(shape.begin(), 4 - shape.size(), 1);
    if (shape[0] * shape[1] > most_maps)
        refuse(subject, std::to_string(shape[0] * shape[1]) + " heads", "at most " + std::to_string(most_maps));
    Array maps = make_array("--probabilities", GYRE_F64, shape);
    for (std::int64_t i = 0; i < given.size(); i++) {
        const double p = element(given, i);
        if (!(p >= 0 && p <= 1.001))
            refuse(subject, "element " + std::to_string(i) + " is " + std::to_string(p), "probabilities");
        maps.as<double>()[i] = p;
    }
    return maps;
}

void run(const Options &options) {
    check_output("--out", options.out);
    const Array maps = read_maps(options.probabilities);
    Progress progress;
    progress.show("drawing " + options.out);
    draw("attention", maps, options.out, {options.rows == Rows::layer ? "layer" : "batch entry"});
    progress.clear();
    JsonObject json;
    json.add("operation", "plot attention");
    json.add("out", options.out);
    json.add("shape", maps.shape);
    print(options.common.json
              ? json.text()
              : options.out + ": " + std::to_string(maps.shape[0] * maps.shape[1]) + " heads, " +
                    std::to_string(maps.shape[2]) + " queries, " + std::to_string(maps.shape[3]) + " keys");
}

} // namespace

void add_plot_attention(const Command &group) {
    const auto options = std::make_shared<Options>();
    const Command command = group.add("attention", "what each head looks at: maps of saved probabilities");
    command.show_example("gyre plot attention --probabilities p.npy --out maps.png");
    add_text(
        command, "--probabilities", options->probabilities, "P.npy",
        "float, [batch or layers, heads, seqlen_q, seqlen_kv]; gyre attention or gyre_experiment --probabilities, or "
        "MultiHeadAttention::attention()")
        .require();
    add_text(command, "--out", options->out, "F.png", "the picture").require();
    add_choice<Rows>(command, "--rows", options->rows, {{"batch", Rows::batch}, {"layer", Rows::layer}},
                     "what the first extent counts, default batch");
    add_json(command, options->common);
    command.run([options] { run(*options); });
}

} // namespace gyre::cli
