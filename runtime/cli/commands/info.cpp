/// gyre info: what this machine is, what is linked, and what would run.
#include "commands/commands.h"

#include "console/terminal.h"
#include "options/common_options.h"
#include "json/json_output.h"

#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace gyre::cli {
namespace {

struct Info {
    std::vector<gyre_target_info> targets;
    std::vector<gyre_dispatch_rule> rules;
    std::string target, reason;
    int threads = 0;
};

Info gather(const CommonOptions &options) {
    Info info;
    const Context context(options);
    info.target = gyre_context_target(context.get());
    info.threads = context.threads();
    const char *from_environment = std::getenv("GYRE_TARGET");
    const bool is_forced_outside = from_environment && *from_environment;
    info.reason = !options.target.empty() ? "forced by --target"
                  : is_forced_outside     ? "forced by the environment variable GYRE_TARGET"
                                          : "the best linked target that this machine can run";
    gyre_target_info target;
    for (std::int32_t i = 0; gyre_target_at(i, &target); i++) info.targets.push_back(target);
    gyre_dispatch_rule rule;
    for (std::int32_t i = 0; gyre_dispatch_rule_at(i, &rule); i++) info.rules.push_back(rule);
    return info;
}

std::vector<std::string> words(const char *text) {
    std::istringstream stream(text);
    std::vector<std::string> list;
    for (std::string word; stream >> word;) list.push_back(word);
    return list;
}

/// The device whose kernels can run here, by its target's name.
std::string gpu(const Info &info) {
    for (const gyre_target_info &target : info.targets)
        if (target.device != GYRE_CPU && target.linked && target.runnable) return target.name;
    return "none";
}

std::string to_json(const Info &info) {
    std::vector<JsonObject> targets;
    for (const gyre_target_info &target : info.targets) {
        JsonObject &json = targets.emplace_back();
        json.add("name", target.name);
        json.add("linked", target.linked != 0);
        json.add("runnable", target.runnable != 0);
        json.add("features", words(target.features));
        json.add("missing", target.missing);
        json.add("rest", target.rest);
    }
    std::vector<JsonObject> rules;
    for (const gyre_dispatch_rule &rule : info.rules) {
        JsonObject &json = rules.emplace_back();
        json.add("operation", rule.operation);
        json.add("kernels", rule.kernels);
        json.add("calls", rule.calls);
    }
    JsonObject json;
    json.add("version", gyre_version());
    json.add("cpu_features", words(gyre_cpu_features()));
    json.add("targets", targets);
    json.add("dispatch", rules);
    json.add("target", info.target);
    json.add("target_reason", info.reason);
    json.add("threads", info.threads);
    json.add("gpu", gpu(info));
    return json.text();
}

/// Words in lines of at most 110 characters, each behind a line break and an indentation.
std::string in_lines(const char *text, const std::string &indentation) {
    constexpr std::size_t width = 110;
    std::string lines, line = indentation;
    for (const std::string &word : words(text)) {
        const bool is_first = line.size() == indentation.size();
        if (!is_first && line.size() + 1 + word.size() > width) {
            lines += "\n" + line;
            line = indentation + word;
        } else {
            line += is_first ? word : " " + word;
        }
    }
    return lines + "\n" + line;
}

std::string to_text(const Info &info) {
    std::ostringstream text;
    text << "gyre " << gyre_version() << "\n";
    text << "CPU features   " << gyre_cpu_features() << "\n";
    for (const gyre_target_info &target : info.targets) {
        text << "target         " << target.name << ": " << (target.linked ? "linked" : "not linked") << ", ";
        text << (target.runnable ? "runs on this machine" : "this machine lacks " + std::string(target.missing));
        if (*target.rest) text << "; kernels that it lacks come from " << target.rest;
        text << "\n";
    }
    text << "chosen         " << info.target << ": " << info.reason << "\n";
    text << "threads        " << info.threads << "\n";
    text << "GPU            " << gpu(info) << "\n";
    text << "dispatch       the first family that takes a call and has a kernel for its type and head size serves it\n";
    text << "               rows: queries times the query heads that share a key head";
    for (const gyre_dispatch_rule &rule : info.rules)
        text << "\n    " << rule.operation << "_" << rule.kernels << in_lines(rule.calls, "        ");
    return text.str();
}

} // namespace

void add_info(const Command &program) {
    const auto options = std::make_shared<CommonOptions>();
    const Command command =
        program.add("info", "CPU features, targets, the one chosen and why, threads, which kernels take which calls");
    command.show_example("gyre info --json");
    add_target_and_threads(command, *options);
    add_json(command, *options);
    command.run([options] {
        const Info info = gather(*options);
        print(options->json ? to_json(info) : to_text(info));
    });
}

} // namespace gyre::cli
