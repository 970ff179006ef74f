/// gyre compare: hands over to the Python program in bench/tune, which reads all further options itself.
#include "commands/commands.h"

#include "console/python_script.h"

namespace gyre::cli {

void add_compare(const Command &program) {
    program.add("compare", "time two builds of one kernel in turns, with Python")
        .pass_on([](std::vector<std::string> words) {
            words.insert(words.begin(), "compare");
            become_tuner(words);
        });
}

} // namespace gyre::cli
