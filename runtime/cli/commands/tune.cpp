/// gyre tune: hands over to the Python program in bench/tune, which reads all further options itself.
#include "commands/commands.h"

#include "console/python_script.h"

namespace gyre::cli {

void add_tune(const Command &program) {
    const Command command = program.add("tune", "search the knobs of kernels on this machine, with Python and optuna");
    command.show_example("gyre tune attention_plain_f32_d64 --minutes 15");
    command.pass_on(become_tuner);
}

} // namespace gyre::cli
