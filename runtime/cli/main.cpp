/// The program `gyre`: the library on the command line, for .npy files and for measuring. It calls the public C API
/// only.
///     exit code 0   done
///               2   bad usage or input: one line on stderr, no output file
///               1   a failure while running
#include "commands/commands.h"

#include <gyre/gyre.h>

#include <csignal>

namespace {

constexpr char foot[] =
    "Example:\n"
    "  gyre attention --q q.npy --k k.npy --v v.npy --out o.npy --causal --rotary-dim 64 --rotary-v-dim 64\n"
    "Exit codes:\n"
    "  0  done\n"
    "  1  a failure while running, such as a full disk\n"
    "  2  bad usage or input: one line on stderr, and no output file\n"
    "Environment:\n"
    "  GYRE_TARGET  the target whose kernels run, instead of the best; --target overrides it\n"
    "  GYRE_PYTHON  the Python of gyre plot, tune and compare; default: python3";

int run(int argc, char **argv) {
    using namespace gyre::cli;
    const auto add_commands = [](const Command &program) {
        add_info(program);
        add_kernels(program);
        add_frequencies(program);
        add_rotary(program);
        add_attention(program);
        add_linear_attention(program);
        add_bench(program);
        add_plot(program);
        add_tune(program);
        add_compare(program);
        add_new_generator(program);
        add_reference(program);
    };
    const Program program = {"gyre", "Rotary embeddings, reverse-rotary attention and fused attention on .npy files.",
                             std::string("gyre ") + gyre_version(), foot};
    return run_command_line(argc, argv, program, add_commands);
}

} // namespace

int main(int argc, char **argv) {
    std::signal(SIGXFSZ, SIG_IGN); // a file that grows over the limit (ulimit -f) fails as one on a full disk does
    try {
        return run(argc, argv);
    } catch (...) { // reached only if even reporting fails
        return 1;
    }
}
