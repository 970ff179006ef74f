#include "core/asked_inputs.h"

#include <charconv>
#include <utility>

namespace gyre {
namespace {

/// Takes what is before the next separator off the text.
std::string_view next(std::string_view *text, char separator) {
    const size_t end = text->find(separator);
    const std::string_view part = text->substr(0, end);
    text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
    return part;
}

bool parse_extent(std::string_view text, int64_t *extent) {
    constexpr std::pair<std::string_view, int64_t> names[] = {
        {"any", ScoreInput::any}, {"queries", ScoreInput::queries}, {"keys", ScoreInput::keys}};
    for (const auto &[name, value] : names)
        if (text == name) {
            *extent = value;
            return true;
        }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *extent);
    return error == std::errc() && end == text.data() + text.size() && *extent > 0;
}

bool parse_input(std::string_view text, ScoreInput *input) {
    input->name = next(&text, ':');
    const std::string_view type = next(&text, ':');
    input->dtype = type == "i32" ? GYRE_I32 : GYRE_F32;
    if (input->name.empty() || (type != "i32" && type != "f32")) return false;
    while (!text.empty())
        if (input->rank == 2 || !parse_extent(next(&text, ':'), &input->extents[input->rank++])) return false;
    return true;
}

} // namespace

ScoreInputs parse_score_inputs(std::string_view text) {
    ScoreInputs all;
    while (!text.empty()) {
        if (all.count == most_score_inputs ||
            !parse_input(next(&text, ','), &all.inputs[static_cast<size_t>(all.count)])) {
            all.count = -1;
            break;
        }
        all.count++;
    }
    return all;
}

} // namespace gyre
