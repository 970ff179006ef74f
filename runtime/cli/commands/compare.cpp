/// gyre compare: hands over to the Python program in bench/tune, which reads all further options itself.
#include "commands/commands.h"

#include "console/python_script.h"

namespace gyre::cli {

void add_compare(const Command &program) {
    const Command command = program.add("compare", "time two builds of one kernel in turns, with Python");
    command.show_example("gyre compare old.so new.so --kernel attention_plain_f32_d64");
    command.pass_on([](std::vector<std::string> words) {
        words.insert(words.begin(), "compare");
        become_tuner(words);
    });
}

} // namespace gyre::cli
