/// gyre manual-page and gyre complete: what the build and the shell ask for, and no help shows.
#include "commands/commands.h"

#include "console/terminal.h"

#include <gyre/gyre.h>

namespace gyre::cli {

void add_reference(const Command &program) {
    const Command page = program.add("manual-page", "print the manual page, as man reads it");
    page.hide();
    page.run([program] { print(program.manual_page(std::string("gyre ") + gyre_version())); });

    const Command complete = program.add("complete", "print the words that may follow these");
    complete.hide();
    complete.pass_on([program](const Command::Words &words) { print(program.completions(words)); });
}

} // namespace gyre::cli
