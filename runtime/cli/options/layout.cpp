#include "options/layout.h"

#include "files/inputs.h"
#include "options/option_values.h"

namespace gyre::cli {

void add_layout(const Command &command, std::optional<gyre_layout> &layout) {
    add_choice<gyre_layout>(command, "--layout", layout, {{"bhsd", GYRE_BHSD}, {"bshd", GYRE_BSHD}},
                            "bhsd (default): [batch, heads, seqlen, dim]; bshd: [batch, seqlen, heads, dim]");
}

const char *dimension_names(gyre_layout layout) {
    switch (layout) {
    case GYRE_BHSD:
        return "[batch, heads, seqlen, dim]";
    case GYRE_BSHD:
        return "[batch, seqlen, heads, dim]";
    case GYRE_THD:
        return "[total tokens, heads, dim]";
    }
    return "";
}

Extents extents_of(const std::string &subject, gyre_layout layout, const Shape &shape) {
    expect_rank(subject, shape, layout == GYRE_THD ? 3 : 4, dimension_names(layout));
    switch (layout) {
    case GYRE_BHSD:
        return {shape[0], shape[1], shape[2], shape[3]};
    case GYRE_BSHD:
        return {shape[0], shape[2], shape[1], shape[3]};
    case GYRE_THD:
        break;
    }
    return {1, shape[1], shape[0], shape[2]};
}

Shape shape_of(gyre_layout layout, const Extents &extents) {
    switch (layout) {
    case GYRE_BHSD:
        return {extents.batch, extents.heads, extents.seqlen, extents.dim};
    case GYRE_BSHD:
        return {extents.batch, extents.seqlen, extents.heads, extents.dim};
    case GYRE_THD:
        break;
    }
    return {extents.seqlen, extents.heads, extents.dim};
}

} // namespace gyre::cli
