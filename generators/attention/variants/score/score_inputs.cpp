#include "attention/score.h"

#include <algorithm>

namespace gyre {
using namespace Halide;
namespace {

constexpr size_t most_inputs = 16; // most_score_inputs of runtime/core/asked_inputs.h
constexpr int of_entries = 2;      // dimensions behind a table's own in a device's kernel: head and batch

/// Stands for an input before its argument has been made.
Expr placeholder(const std::string &name, const Type &type) {
    return Internal::Variable::make(type, "score_" + name + "_placeholder");
}

bool is_identifier(const std::string &name) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    return !name.empty() && letter(name[0]) &&
           std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::string text(const ScoreExtent &extent) {
    if (extent.count == any.count) return "any";
    if (extent.count == queries.count) return "queries";
    if (extent.count == keys.count) return "keys";
    return std::to_string(extent.count);
}

bool same(const std::vector<ScoreExtent> &a, const std::vector<ScoreExtent> &b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const ScoreExtent &x, const ScoreExtent &y) { return x.count == y.count; });
}

} // namespace

Expr ScoreTable::extent(int dimension) const {
    _halide_user_assert(dimension >= 0 && dimension < static_cast<int>(extents.size()))
        << "score input " << name << ": extent(" << dimension << ") of a table of rank " << extents.size() << "\n";
    return extents[static_cast<size_t>(dimension)];
}

Expr ScoreTable::read(const std::vector<Expr> &index) const {
    _halide_user_assert(index.size() == extents.size())
        << "score input " << name << ": read with " << index.size() << " indices, expected " << extents.size() << "\n";
    std::vector<Expr> innermost_first;
    for (size_t i = index.size(); i-- > 0;) {
        _halide_user_assert(index[i].defined() && index[i].type().is_int_or_uint())
            << "score input " << name << ": index " << i << " is " << index[i] << ", expected an integer\n";
        const Expr asked = cast<int32_t>(index[i]);
        // likely: loops are split so that most reads need not be moved inside. A device's are no loops.
        const Expr inside = clamp(entry.empty() ? likely(asked) : asked, 0, extents[i] - 1);
        innermost_first.push_back(entry.empty() ? inside : firsts[i] + inside);
    }
    innermost_first.insert(innermost_first.end(), entry.begin(), entry.end());
    return elements.defined() ? elements(innermost_first) : placeholder(name, type);
}

ScoreInputs::ScoreInputs(Internal::GeneratorBase &generator)
    : generator(generator), whole(generator.context().target().has_gpu_feature()) {}

Expr ScoreInputs::value(const std::string &name, const Type &type) {
    const Input &input = find_or_add(name, {}, type);
    if (!bound) return placeholder(name, type);
    return whole ? Expr((*input.buffer)(part.head, part.batch)) : Expr(*input.scalar);
}

ScoreTable ScoreInputs::table(const std::string &name, const std::vector<ScoreExtent> &extents, const Type &type) {
    _halide_user_assert(extents.size() == 1 || extents.size() == 2)
        << "score input " << name << ": a table of rank " << extents.size() << ", expected 1 or 2\n";
    const Input &input = find_or_add(name, extents, type);
    ScoreTable table;
    table.name = name;
    table.type = type;
    if (bound) table.elements = *input.buffer;
    if (bound && whole) table.entry = {part.head, part.batch};
    for (size_t i = 0; i < extents.size(); i++) {
        const bool of_queries = extents[i].count == queries.count, of_keys = extents[i].count == keys.count;
        table.firsts.push_back(!bound || !(of_queries || of_keys) ? Expr(0)
                               : of_queries                       ? part.first_query
                                                                  : part.first_key);
        if (bound && whole && (of_queries || of_keys))
            table.extents.push_back(of_queries ? part.queries : part.keys);
        else if (extents[i].count > 0)
            table.extents.push_back(extents[i].count);
        else if (bound)
            table.extents.push_back(input.buffer->dim(static_cast<int>(extents.size() - 1 - i)).extent());
        else
            table.extents.push_back(placeholder(name, Int(32)));
    }
    return table;
}

const ScoreInputs::Input &ScoreInputs::find_or_add(const std::string &name, const std::vector<ScoreExtent> &extents,
                                                   const Type &type) {
    const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const Input &i) { return i.name == name; });
    if (found != inputs.end()) {
        _halide_user_assert(found->type == type && same(found->extents, extents))
            << "score input " << name << ": asked for with two types or shapes\n";
        return *found;
    }
    _halide_user_assert(!bound) << "score input " << name << ": asked for in one call of score() and not in another\n";
    _halide_user_assert(is_identifier(name)) << "score input \"" << name << "\": expected a C identifier\n";
    _halide_user_assert(type == Float(32) || type == Int(32))
        << "score input " << name << ": of type " << type << ", expected Float(32) or Int(32)\n";
    _halide_user_assert(inputs.size() < most_inputs)
        << "score input " << name << ": one more than the " << most_inputs << " that a function may ask for\n";
    for (const ScoreExtent &extent : extents)
        _halide_user_assert(extent.count >= keys.count && extent.count != 0)
            << "score input " << name << ": an extent of " << extent.count << "\n";
    Input input{name, type, extents};
    const int rank = static_cast<int>(extents.size()) + (whole ? of_entries : 0);
    if (rank == 0)
        input.scalar = generator.add_input<Expr>("score_input_" + name, type);
    else
        input.buffer = generator.add_input<Buffer<>>("score_input_" + name, type, rank);
    inputs.push_back(input);
    return inputs.back();
}

void ScoreInputs::bind() {
    bound = true;
    for (Input &input : inputs)
        for (int d = 0; d < static_cast<int>(input.extents.size()); d++) {
            auto dim = input.buffer->dim(d);
            const int count = input.extents[input.extents.size() - 1 - static_cast<size_t>(d)].count;
            if (d == 0 || whole) dim.set_stride(Expr());
            if (count > 0)
                dim.set_bounds(0, count);
            else
                dim.set_min(0);
        }
}

void ScoreInputs::bind(const Part &of) {
    part = of;
    bind();
    for (Input &input : inputs)
        for (int d = 0; d < of_entries; d++) {
            auto dim = input.buffer->dim(static_cast<int>(input.extents.size()) + d);
            dim.set_min(0).set_stride(Expr());
        }
}

std::string ScoreInputs::description() const {
    std::string all;
    for (const Input &input : inputs) {
        all += (all.empty() ? "" : ",") + input.name + (input.type.is_float() ? ":f32" : ":i32");
        for (const ScoreExtent &extent : input.extents) all += ":" + text(extent);
    }
    return all;
}

Expr ScoreInputs::dense() const {
    Expr all = Internal::const_true();
    for (const Input &input : inputs)
        if (input.buffer) all = all && input.buffer->dim(0).stride() == 1;
    return all;
}

} // namespace gyre
