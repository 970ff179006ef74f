#include "attention/score.h"

#include <algorithm>

namespace gyre {
using namespace Halide;
namespace {

constexpr size_t most_inputs = 16; // most_score_inputs of runtime/core/asked_inputs.h

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
        // likely: loops are split so that most reads need not be moved inside.
        innermost_first.push_back(clamp(likely(cast<int32_t>(index[i])), 0, extents[i] - 1));
    }
    return elements.defined() ? elements(innermost_first) : placeholder(name, type);
}

Expr ScoreInputs::value(const std::string &name, const Type &type) {
    const Input &input = find_or_add(name, {}, type);
    return bound ? Expr(*input.scalar) : placeholder(name, type);
}

ScoreTable ScoreInputs::table(const std::string &name, const std::vector<ScoreExtent> &extents, const Type &type) {
    _halide_user_assert(extents.size() == 1 || extents.size() == 2)
        << "score input " << name << ": a table of rank " << extents.size() << ", expected 1 or 2\n";
    const Input &input = find_or_add(name, extents, type);
    ScoreTable table;
    table.name = name;
    table.type = type;
    if (bound) table.elements = *input.buffer;
    for (size_t i = 0; i < extents.size(); i++) {
        if (extents[i].count > 0)
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
    if (extents.empty())
        input.scalar = generator.add_input<Expr>("score_input_" + name, type);
    else
        input.buffer = generator.add_input<Buffer<>>("score_input_" + name, type, static_cast<int>(extents.size()));
    inputs.push_back(input);
    return inputs.back();
}

void ScoreInputs::bind() {
    bound = true;
    for (Input &input : inputs)
        for (int d = 0; d < static_cast<int>(input.extents.size()); d++) {
            auto dim = input.buffer->dim(d);
            const int count = input.extents[input.extents.size() - 1 - static_cast<size_t>(d)].count;
            if (d == 0) dim.set_stride(Expr());
            if (count > 0)
                dim.set_bounds(0, count);
            else
                dim.set_min(0);
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
