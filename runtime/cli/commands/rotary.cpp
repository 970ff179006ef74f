/// gyre rotary: rotates the features of an .npy file.
#include "commands/commands.h"

#include "calls/rotary_call.h"
#include "console/terminal.h"
#include "files/inputs.h"
#include "files/npy.h"
#include "files/output_file.h"
#include "options/common_options.h"
#include "options/layout.h"
#include "options/option_values.h"
#include "reports/operation_report.h"

#include <memory>

namespace gyre::cli {
namespace {

struct Options {
    CommonOptions common;
    RotaryOptions rotary;
    std::string x, out;
};

void run(const Options &options) {
    check_output("--out", options.out);
    Progress progress;
    progress.show("reading " + options.x);
    const Array x = read_tensor("--x", options.x, options.common.dtype);
    const std::string x_name = "--x " + options.x;
    expect_rank(x_name, x.shape, 4, dimension_names(options.rotary.layout.value_or(GYRE_BHSD)));
    Array out = make_array("--out", x.dtype, x.shape);

    OperationReport report;
    {
        RotaryCall call(options.rotary, x_name, view(x), view(out));
        const Context context(options.common);
        progress.show("rotating");
        call.run(context.get());
        report = {"rotary", context.kernel(), context.threads(), {{"out", options.out, &out}}};
    }
    progress.show("writing " + options.out);
    write_npy({{options.out, &out}});
    progress.clear();
    print(options.common.json ? to_json(report) : to_text(report));
}

} // namespace

void add_rotary(const Command &program) {
    const auto options = std::make_shared<Options>();
    const Command command = program.add("rotary", "rotate the features of X.npy by their positions");
    command.show_example("gyre rotary --x x.npy --out y.npy --rotary-dim 32 --offset 100");
    add_text(command, "--x", options->x, "X.npy", "float; dimensions by --layout").require();
    add_text(command, "--out", options->out, "Y.npy", "the result, of X's shape").require();
    add_rotary_options(command, options->rotary);
    add_dtype(command, options->common);
    add_target_and_threads(command, options->common);
    add_json(command, options->common);
    command.run([options] { run(*options); });
}

} // namespace gyre::cli
