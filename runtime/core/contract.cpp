#include "core/contract.h"

#include "core/argument_tables.h"
#include "core/asked_inputs.h"
#include "core/error.h"
#include "core/kernel_words.h"

#include <HalideRuntime.h>

#include <string>

namespace gyre {
namespace {

// clang-format off
constexpr ArgumentTable common_tables[] = {
    argument_table<AnglesArguments>("angles"),
    argument_table<AttentionArguments>("attention"),
    argument_table<MergeArguments>("merge"),
    argument_table<OperandsArguments>("operands"),
    argument_table<RotaryArguments>("rotary"),
};
// clang-format on
constexpr ArgumentTables of_common = {common_tables, sizeof common_tables / sizeof common_tables[0]};

/// A kernel's image is a device's.
const ArgumentTable *find_table(const gyre_kernel &kernel) {
    for (const ArgumentTables *tables : {&of_common, &backward_tables, &linear_tables, &device_tables}) {
        if (!tables) continue; // not linked
        for (size_t i = 0; i < tables->count; i++) {
            const ArgumentTable &t = tables->first[i];
            if (t.operation == kernel.operation && t.on_device == (kernel.image != nullptr)) return &t;
        }
    }
    return nullptr;
}

struct TypeName {
    std::string_view brief, parameter; // in tables; as parameters of generators have it
    halide_type_t type;
};
constexpr TypeName type_names[] = {
    {"f32", "float32", {halide_type_float, 32}}, {"f16", "float16", {halide_type_float, 16}},
    {"f64", "float64", {halide_type_float, 64}}, {"bf16", "bfloat16", {halide_type_bfloat, 16}},
    {"i8", "int8", {halide_type_int, 8}},        {"i16", "int16", {halide_type_int, 16}},
    {"i32", "int32", {halide_type_int, 32}},     {"u8", "uint8", {halide_type_uint, 8}},
    {"u16", "uint16", {halide_type_uint, 16}},   {"u32", "uint32", {halide_type_uint, 32}},
    {"u64", "uint64", {halide_type_uint, 64}},   {"boolean", "bool", {halide_type_uint, 1}}};

std::string_view name_of(halide_type_t type) {
    for (const TypeName &one : type_names)
        if (one.type == type) return one.brief;
    return "?";
}

/// The type of a row, of a kernel with these attributes. One that no type has the name of is not any argument's.
std::string_view type_of(const KernelWords &words, const ArgumentRow &row) {
    std::string_view word = variant_type(row.type, [&](const char *made_with) { return words.is(made_with); });
    for (const TypeName &one : type_names)
        if (one.brief == word) return word;
    if (word == "from_dtype" && words.value(word).empty()) word = "dtype";
    const std::string_view parameter = words.value(word);
    for (const TypeName &one : type_names)
        if (one.parameter == parameter) return one.brief;
    return "unknown";
}

struct Argument {
    bool is_output, is_buffer;
    std::string_view name, type;
    int rank;
    std::string_view prefix = ""; // of the name

    bool operator==(const halide_filter_argument_t &said) const {
        const std::string_view full = said.name;
        return is_output == (said.kind == halide_argument_kind_output_buffer) &&
               is_buffer == (said.kind != halide_argument_kind_input_scalar) && rank == said.dimensions &&
               full.size() == prefix.size() + name.size() && full.substr(0, prefix.size()) == prefix &&
               full.substr(prefix.size()) == name && type == name_of(said.type);
    }
};

constexpr int of_entries =
    2; // dimensions of a score function's input behind its own, heads and batch, in a device's kernel

/// What is done with an argument, and with what; false: no more of them. A pointer, so that small programs hold the loop once.
using Use = bool (*)(void *state, const Argument &argument);

/// Calls `use` with each argument that a kernel is expected to have, until it returns false. Nothing is allocated.
void each_expected(const gyre_kernel &kernel, const ArgumentTable &table, Use use, void *state) {
    KernelWords words(kernel);
    for (const ArgumentRow *row = table.rows; row != table.rows + table.count; row++) {
        if (!words.has(*row)) continue;
        if (row->kind != ArgumentRow::score_inputs) {
            const bool is_output = row->kind == ArgumentRow::output_buffer;
            if (!use(state, Argument{is_output, row->rank > 0, row->name, type_of(words, *row), row->rank})) return;
            continue;
        }
        for (const ScoreInput &input : parse_score_inputs(words.value("score_inputs"))) {
            const char *type = input.dtype == GYRE_I32 ? "i32" : "f32";
            const int rank = input.rank + (table.on_device ? of_entries : 0);
            if (!use(state, Argument{false, rank > 0, input.name, type, rank, "score_input_"})) return;
        }
    }
}

/// What Halide says, which in Halide 21 is in the order of the call, without the user context.
RowList<halide_filter_argument_t> arguments_of(const halide_filter_metadata_t &said) {
    const auto count = static_cast<size_t>(said.num_arguments);
    const bool has_context = count && said.arguments[0].type.code == halide_type_handle;
    return {said.arguments + has_context, count - has_context};
}

bool agree(const gyre_kernel &kernel, const ArgumentTable &table, const halide_filter_metadata_t &metadata) {
    struct Comparison {
        const RowList<halide_filter_argument_t> said;
        size_t same = 0, expected = 0;
    } c{arguments_of(metadata)};
    const auto compare = [](void *state, const Argument &argument) {
        auto &[said, same, expected] = *static_cast<Comparison *>(state);
        expected++;
        if (same < said.count && argument == said.first[same]) same++;
        return same == expected;
    };
    each_expected(kernel, table, compare, &c);
    return c.same == c.expected && c.same == c.said.count;
}

/// Appends an argument to a list for a refusal.
void append(bool is_output, std::string_view prefix, std::string_view name, std::string_view type, int rank,
            std::string *list) {
    if (!list->empty()) list->append(", ");
    if (is_output) list->append("-> ");
    list->append(prefix).append(name).append(" ").append(type);
    if (rank > 0) list->append("[").append(std::to_string(rank)).append("]");
}

gyre_status refuse_arguments(const gyre_kernel &kernel, const ArgumentTable &table,
                             const halide_filter_metadata_t &metadata) {
    std::string got, expected;
    for (const halide_filter_argument_t &a : arguments_of(metadata))
        append(a.kind == halide_argument_kind_output_buffer, "", a.name, name_of(a.type), a.dimensions, &got);
    const auto list = [](void *state, const Argument &a) {
        append(a.is_output, a.prefix, a.name, a.type, a.rank, static_cast<std::string *>(state));
        return true;
    };
    each_expected(kernel, table, list, &expected);
    return refuse(GYRE_UNSUPPORTED, "library.kernels",
                  "%.64s: got a kernel that takes (%s), expected (%s): make it again", kernel.name, got.c_str(),
                  expected.c_str());
}

} // namespace

ArgumentPlaces find_places_on_device(const gyre_kernel &kernel) {
    const ArgumentTable *table = kernel.image ? find_table(kernel) : nullptr;
    return table ? find_places(kernel, table->rows, table->count) : ArgumentPlaces{};
}

gyre_status check_arguments(const gyre_kernel &kernel) {
    const ArgumentTable *table = find_table(kernel);
    if (!table) return GYRE_OK;
    const halide_filter_metadata_t *said = kernel.metadata ? kernel.metadata() : nullptr;
    if (!said)
        return refuse(GYRE_BAD_ARGUMENT, "library.kernels",
                      "%.64s: metadata: got NULL, expected what Halide says of the arguments", kernel.name);
    return agree(kernel, *table, *said) ? GYRE_OK : refuse_arguments(kernel, *table, *said);
}

} // namespace gyre
