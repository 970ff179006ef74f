/// gyre new-generator: a project that makes kernels of a Halide generator of one's own, by gyre_add_generator() in CMake.
#include "commands/commands.h"

#include "console/errors.h"
#include "console/terminal.h"
#include "files/output_file.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

namespace gyre::cli {
namespace {

struct Template {
    std::string file, text; // %NAME% stands for the generator's name
};

const Template templates[] = {
#include "generator_templates.inc"
};

struct Options {
    std::string name, out;
};

std::string named(std::string text, const std::string &name) {
    const std::string mark = "%NAME%";
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + name.size()))
        text.replace(at, mark.size(), name);
    return text;
}

/// The text as one word of a shell.
std::string word(const std::string &text) {
    const bool plain = text.find_first_of(" \t\n'\"\\$`!*?[](){}<>|&;#~") == std::string::npos;
    if (plain) return text;
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    return quoted + "'";
}

void take_name(Options &options, const std::string &name) {
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    const auto is_valid = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
    if (name.empty() || !is_letter(name[0]) || !std::all_of(name.begin(), name.end(), is_valid) || name == "gyre")
        refuse("NAME", "'" + name + "'", "small letters, digits and _, and not gyre: it becomes part of symbols");
    options.name = name;
}

void write(const Options &options) {
    namespace fs = std::filesystem;
    const fs::path folder = options.out.empty() ? options.name : options.out;
    std::error_code error;
    if (fs::exists(folder, error)) refuse("--out", folder.string() + " is there already", "a folder that is made");
    if (!fs::create_directories(folder, error)) throw RunError(folder.string() + ": " + error.message());
    const SignalsHeld held;
    try {
        for (const Template &t : templates) {
            const std::string text = named(t.text, options.name);
            OutputFile file((folder / named(t.file, options.name)).string());
            file.write(text.data(), text.size());
            file.commit();
        }
    } catch (...) {
        fs::remove_all(folder, error); // or the next try would be refused
        throw;
    }
    const std::string made = word(folder.string()), build = word((folder / "build").string());
    print(folder.string() + ": a generator, its knobs and a program. Next, with gyre in ~/gyre and Halide 21:\n" +
          "  cmake -S " + made + " -B " + build + " -DCMAKE_PREFIX_PATH=~/gyre\n" + "  cmake --build " + build +
          " && " + word((folder / "build" / (options.name + "_program")).string()));
}

} // namespace

void add_new_generator(const Command &program) {
    const auto options = std::make_shared<Options>();
    const Command command = program.add("new-generator", "write a project with a Halide generator of your own");
    command.show_example("gyre new-generator swiglu");
    command
        .add_option("NAME", "", "the generator's name",
                    [options](const std::string &name) { take_name(*options, name); })
        .require();
    command.add_option("--out", "DIR", "the folder to make; default: the name",
                       [options](const std::string &folder) { options->out = folder; });
    command.run([options] { write(*options); });
}

} // namespace gyre::cli
