#include "options.h"

#include "options/option_values.h"

namespace gyre::tune {

Options GivenOptions::options() const {
    Options options = words_and_flags;
    options.threads = std::int32_t(threads.value_or(options.threads));
    options.limit_seconds = limit_seconds.value_or(options.limit_seconds);
    options.limit_memory = limit_memory.value_or(options.limit_memory);
    SessionOptions &session = options.session;
    session.seconds = seconds.value_or(session.seconds);
    session.fewest_rounds = fewest_rounds.value_or(session.fewest_rounds);
    session.most_rounds = most_rounds.value_or(session.most_rounds);
    session.hopeless = hopeless.value_or(session.hopeless);
    session.cut = cut.value_or(session.cut);
    return options;
}

void add_options(const cli::Command &program, GivenOptions &given) {
    const std::int64_t many = 1 << 30;
    Options &options = given.words_and_flags;
    cli::add_text(program, "--kernel", options.kernel, "NAME", "operation_variant").require();
    program.add_option_list("--library", "ROLE=FILE.so", "in the order of their turns; the first is the reference",
                            options.libraries, true);
    cli::add_text(program, "--verify", options.verify, "ROLE",
                  "compare this library with the oracles before it is timed");
    program.add_flag("--thorough", options.thorough, "with more calls");
    program.add_flag("--only-timed", options.only_timed, "with calls of the timed shapes alone");
    program.add_option_list("--shape", "b=1,h=8,hkv=8,lq=1024,lk=1024,d=64", "time this", options.shapes, false);
    cli::add_whole_number(program, "--threads", given.threads, 1, 1 << 12, "default 1");
    cli::add_real_number(program, "--seconds", given.seconds, 0, false, "of timed rounds, for each shape");
    cli::add_whole_number(program, "--fewest-rounds", given.fewest_rounds, 1, 1 << 20, "however long they take");
    cli::add_whole_number(program, "--most-rounds", given.most_rounds, 1, 1 << 20, "however short they are");
    cli::add_real_number(program, "--hopeless", given.hopeless, 0, false,
                         "ratio of first calls at which the last library is given up");
    cli::add_real_number(program, "--cut", given.cut, 0, false, "median ratio at which it is, after the fewest rounds");
    cli::add_text(program, "--ratio-to", options.ratio_to, "FILE",
                  "write the geometric mean of the last library's ratios, and its file, for scripts to sort");
    program.add_flag("--peak", options.peak, "measure the machine's peak between rounds");
    cli::add_whole_number(program, "--limit-seconds", given.limit_seconds, 0, many, "end after so many");
    cli::add_whole_number(program, "--limit-memory", given.limit_memory, 0, many, "MiB");
}

} // namespace gyre::tune
