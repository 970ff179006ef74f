/// gyre kernels: every kernel that is linked.
#include "commands/commands.h"

#include "console/terminal.h"
#include "options/common_options.h"
#include "json/json_output.h"

#include <gyre/gyre.h>

#include <memory>
#include <string>
#include <vector>

namespace gyre::cli {
namespace {

std::vector<gyre_kernel_info> linked_kernels() {
    std::vector<gyre_kernel_info> kernels;
    gyre_kernel_info kernel;
    for (std::int32_t i = 0; gyre_kernel_at(i, &kernel); i++) kernels.push_back(kernel);
    return kernels;
}

std::string to_json(const std::vector<gyre_kernel_info> &kernels) {
    std::vector<JsonObject> list;
    for (const gyre_kernel_info &kernel : kernels) {
        JsonObject &json = list.emplace_back();
        json.add("name", kernel.name);
        json.add("operation", kernel.operation);
        json.add("variant", kernel.variant);
        json.add("target", kernel.target);
        json.add("library", kernel.library);
        json.add("runnable", kernel.runnable != 0);
        json.add("attributes", kernel.attributes);
        json.add("evidence", kernel.evidence);
    }
    return JsonObject().add("kernels", list).text();
}

std::string to_text(const std::vector<gyre_kernel_info> &kernels) {
    std::vector<std::vector<std::string>> rows = {{"OPERATION", "VARIANT", "TARGET", "RUNS HERE", "EVIDENCE"}};
    for (const gyre_kernel_info &kernel : kernels) {
        rows.push_back(
            {kernel.operation, kernel.variant, kernel.target, kernel.runnable ? "yes" : "no", kernel.evidence});
    }
    std::vector<std::size_t> widths(rows[0].size());
    for (const auto &row : rows) {
        for (std::size_t i = 0; i < row.size(); i++) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const auto &row : rows) {
        for (std::size_t i = 0; i + 1 < row.size(); i++)
            text += row[i] + std::string(widths[i] + 2 - row[i].size(), ' ');
        text += row.back() + "\n";
    }
    return text + std::to_string(kernels.size()) + " kernels";
}

} // namespace

void add_kernels(const Command &program) {
    const auto options = std::make_shared<CommonOptions>();
    const Command command = program.add("kernels", "every linked kernel, in the order in which they are tried");
    command.show_example("gyre kernels --json");
    add_json(command, *options);
    command.run([options] { print(options->json ? to_json(linked_kernels()) : to_text(linked_kernels())); });
}

} // namespace gyre::cli
