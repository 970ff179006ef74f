#include "options/gradient_options.h"

#include "console/errors.h"
#include "options/option_values.h"

namespace gyre::cli {

void GradientOptions::check() const {
    const std::pair<const char *, const std::string &> files[] = {
        {"--q-grad", q_grad}, {"--k-grad", k_grad}, {"--v-grad", v_grad}};
    for (const auto &[option, path] : files)
        if (path.empty() == given())
            refuse(option, path.empty() ? "missing beside --out-grad" : "given without --out-grad",
                   "--out-grad with --q-grad, --k-grad and --v-grad");
}

void add_gradient_options(const Command &command, GradientOptions &options) {
    add_text(command, "--out-grad", options.out_grad, "G.npy",
             "the gradient of out: also computes those of q, k and v");
    add_text(command, "--q-grad", options.q_grad, "DQ.npy", "with --out-grad, as are the next two");
    add_text(command, "--k-grad", options.k_grad, "DK.npy", "");
    add_text(command, "--v-grad", options.v_grad, "DV.npy", "");
}

} // namespace gyre::cli
