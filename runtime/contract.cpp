#include "contract.h"

#include "argument_tables.h"
#include "attention/score_inputs.h"
#include "error.h"

#include <HalideRuntime.h>

#include <string>
#include <vector>

namespace gyre {
namespace {

struct ArgumentTable {
    std::string_view operation;
    bool on_device;
    const ArgumentRow *rows;
    size_t count;
};

template <typename Table>
constexpr ArgumentTable table(std::string_view operation, bool on_device = false) {
    return {operation, on_device, Table::argument_rows, Table::argument_count};
}

// clang-format off
constexpr ArgumentTable tables[] = {
    table<AnglesArguments>("angles"),
    table<AnglesCudaArguments>("angles", true),
    table<AttentionArguments>("attention"),
    table<AttentionCudaArguments>("attention", true),
    table<BackwardArguments>("backward"),
    table<DeltaArguments>("delta"),
    table<FeaturesArguments>("features"),
    table<LinearArguments>("linear"),
    table<MergeArguments>("merge"),
    table<MergeCudaArguments>("merge", true),
    table<NormsArguments>("norms"),
    table<OperandsArguments>("operands"),
    table<OuterArguments>("outer"),
    table<PanelsArguments>("panels"),
    table<RotaryArguments>("rotary"),
    table<RotaryCudaArguments>("rotary", true),
    table<SlopesArguments>("slopes"),
    table<SumsArguments>("sums"),
};
// clang-format on

/// A kernel's image is a device's.
const ArgumentTable *find_table(const gyre_kernel &kernel) {
    for (const ArgumentTable &t : tables)
        if (t.operation == kernel.operation && t.on_device == (kernel.image != nullptr)) return &t;
    return nullptr;
}

/// Tells which rows a kernel has. Rows with the same condition follow each other.
class Presence {
public:
    explicit Presence(const gyre_kernel &kernel) : kernel(kernel) {}

    bool has(const ArgumentRow &row) {
        if (row.when == "always") return true;
        if (row.when != last) {
            last = row.when;
            made_with_last = is_made_with(kernel, last);
        }
        return made_with_last;
    }

private:
    const gyre_kernel &kernel;
    std::string_view last;
    bool made_with_last = false;
};

/// A type by its short name, whether a table or a parameter of the generator names it.
std::string_view short_name(std::string_view type) {
    constexpr std::pair<std::string_view, std::string_view> names[] = {
        {"float32", "f32"}, {"float16", "f16"}, {"bfloat16", "bf16"}};
    for (const auto &[name, brief] : names)
        if (type == name) return brief;
    return type;
}

std::string_view type_of(const gyre_kernel &kernel, const ArgumentRow &row) {
    std::string_view word =
        variant_type(row.type, [&](const char *made_with) { return is_made_with(kernel, made_with); });
    if (word == "from_dtype" && attribute(kernel, word).empty()) word = "dtype";
    const std::string_view parameter = attribute(kernel, word);
    return short_name(parameter.empty() ? word : parameter);
}

std::string name_of(halide_type_t type) {
    if (type.code == halide_type_uint && type.bits == 1) return "boolean";
    const char *const codes[] = {"i", "u", "f", "handle", "bf"};
    return (type.code < 5 ? codes[type.code] : "?") + std::to_string(type.bits);
}

/// One argument, as refusals print it.
std::string text(bool is_output, std::string_view name, std::string_view type, int rank) {
    std::string all = is_output ? "-> " : "";
    all.append(name).append(" ").append(type);
    if (rank > 0) all.append("[").append(std::to_string(rank)).append("]");
    return all;
}

std::vector<std::string> expected_arguments(const gyre_kernel &kernel, const ArgumentTable &table) {
    std::vector<std::string> all;
    Presence presence(kernel);
    for (const ArgumentRow *row = table.rows; row != table.rows + table.count; row++) {
        if (!presence.has(*row)) continue;
        if (row->kind != ArgumentRow::score_inputs)
            all.push_back(text(row->kind == ArgumentRow::output_buffer, row->name, type_of(kernel, *row), row->rank));
        else
            for (const ScoreInput &input : parse_score_inputs(attribute(kernel, "score_inputs")))
                all.push_back(text(false, "score_input_" + std::string(input.name),
                                   input.dtype == GYRE_I32 ? "i32" : "f32", input.rank));
    }
    return all;
}

/// What Halide says, which in Halide 21 is in the order of the call.
std::vector<std::string> arguments_of(const halide_filter_metadata_t &said) {
    std::vector<std::string> all;
    for (int i = 0; i < said.num_arguments; i++) {
        const halide_filter_argument_t &a = said.arguments[i];
        if (a.type.code == halide_type_handle) continue; // the user context
        all.push_back(text(a.kind == halide_argument_kind_output_buffer, a.name, name_of(a.type), a.dimensions));
    }
    return all;
}

std::string joined(const std::vector<std::string> &list) {
    std::string all;
    for (const std::string &one : list) all += (all.empty() ? "" : ", ") + one;
    return all;
}

} // namespace

bool is_made_with(const gyre_kernel &kernel, std::string_view word) {
    const std::string_view value = attribute(kernel, word);
    return !value.empty() && value != "false" && value != "0";
}

gyre_status check_arguments(const gyre_kernel &kernel) {
    const ArgumentTable *table = find_table(kernel);
    if (!table) return GYRE_OK;
    const halide_filter_metadata_t *said = kernel.metadata ? kernel.metadata() : nullptr;
    if (!said)
        return fail(GYRE_BAD_ARGUMENT, "%.64s: metadata: got NULL, expected what Halide says of the arguments",
                    kernel.name);
    const std::vector<std::string> got = arguments_of(*said), expected = expected_arguments(kernel, *table);
    if (got == expected) return GYRE_OK;
    return fail(GYRE_UNSUPPORTED, "%.64s: got a kernel that takes (%s), expected (%s): make it again", kernel.name,
                joined(got).c_str(), joined(expected).c_str());
}

ArgumentPlaces find_places(const gyre_kernel &kernel, const ArgumentRow *rows, size_t count) {
    ArgumentPlaces places;
    Presence presence(kernel);
    uint8_t next = 1;
    for (size_t i = 0; i < count; i++) {
        places.of[i] = ArgumentPlaces::spare;
        if (!presence.has(rows[i])) continue;
        places.of[i] = next;
        if (rows[i].kind == ArgumentRow::score_inputs) {
            const ScoreInputs asked = parse_score_inputs(attribute(kernel, "score_inputs"));
            next = static_cast<uint8_t>(next + (asked.end() - asked.begin()));
        } else {
            next++;
            places.required |= uint64_t{1} << i;
        }
    }
    return places;
}

} // namespace gyre
