#include "options/common_options.h"

#include "options/library_errors.h"
#include "options/option_values.h"

namespace gyre::cli {

void add_json(const Command &command, CommonOptions &options) {
    command.add_flag("--json", options.json, "print one JSON object instead of text");
}

void add_target_and_threads(const Command &command, CommonOptions &options) {
    add_text(command, "--target", options.target, "NAME", "run this target's kernels, or fail (see gyre info)");
    add_whole_number(command, "--threads", options.threads, 0, 1 << 16, "0: as many as this process may run on");
}

void add_dtype(const Command &command, CommonOptions &options) {
    add_choice<gyre_dtype>(command, "--dtype", options.dtype,
                           {{"f32", GYRE_F32}, {"f16", GYRE_F16}, {"bf16", GYRE_BF16}},
                           "type in which the kernel runs; default: the file's, f64 becomes f32");
}

Context::Context(const CommonOptions &options) {
    gyre_context_options wanted = gyre_context_defaults();
    wanted.threads = std::int32_t(options.threads.value_or(0));
    wanted.target = options.target.empty() ? nullptr : options.target.c_str();
    check(gyre_context_create(&wanted, &context_),
          {{"threads", "--threads"}, {"target", "--target"}, {"GYRE_TARGET", "GYRE_TARGET"}});
}

std::string target_of_kernel(const std::string &kernel) {
    const std::size_t at = kernel.rfind("__");
    return at == std::string::npos ? "" : kernel.substr(at + 2);
}

} // namespace gyre::cli
