#include "attention/dispatch/dispatch.h"

#include "core/argument_tables.h"
#include "core/contract.h"
#include "core/error.h"
#include "core/kernel_call.h"
#include "core/kernel_words.h"

#include <algorithm>

namespace gyre {
namespace {

unsigned traits_of(const Kernel &k) {
    const KernelWords words(k);
    unsigned traits = 0;
#define GYRE_FAMILY(begin, calls, traits)
#define GYRE_TRAIT(name)                                                                                               \
    if (words.is(#name)) traits |= trait::name;
#include "gyre_families.inc"
#undef GYRE_TRAIT
#undef GYRE_FAMILY
    return traits;
}

bool has_features(const Kernel &k, std::string_view begin) {
    return k.row && std::string_view(k.row->features).find(begin) != std::string_view::npos;
}

/// By the target's name: tests emulate tiles on machines that lack the features.
bool is_on_tiles(const Kernel &k) { return k.row && has_matrix_tiles(*k.row); }

int64_t vector_bytes_of(const Kernel &k) {
    return has_features(k, "avx512f") ? avx512_bytes : has_features(k, "avx2") ? avx2_bytes : 0;
}

AttentionKernel read(const Kernel &k) {
    return {&k,
            kernel_dtype(k),
            traits_of(k),
            attribute(k, "padded") == "true",
            attribute(k, "bounded", 0) == 1,
            attribute(k, "operands") == "bf16",
            attribute(k, "terms", 0),
            is_on_tiles(k),
            vector_bytes_of(k),
            attribute(k, "head_dim", 0),
            attribute(k, "least_head_dim", 0),
            attribute(k, "row_tile", 0),
            attribute(k, "task_rows", 0),
            attribute(k, "tile_lanes", 0),
            attribute(k, "key_block", 0),
            static_cast<size_t>(attribute(k, "workspace", 0)),
            attribute(k, "score"),
            parse_score_inputs(attribute(k, "score_inputs")),
            k.image ? find_places_on_device(k) : find_places<AttentionArguments>(k)};
}

size_t family_of(const AttentionKernel &kernel) {
    const auto rules = dispatch_rules();
    const auto family =
        std::find_if(rules.begin(), rules.end(), [&](const DispatchRule &r) { return r.traits == kernel.traits; });
    return static_cast<size_t>(family - rules.begin());
}

void add_in_order(std::vector<std::string_view> &names, std::string_view name) {
    const auto place = std::lower_bound(names.begin(), names.end(), name);
    if (place == names.end() || *place != name) names.insert(place, name);
}

KernelTable<AttentionKernel> kernels("attention", read, family_of);

} // namespace

bool has_matrix_tiles(const Target &target) { return std::string_view(target.name) == "x86_64_amx"; }

void take_target(const gyre_context &context, AttentionCall *call) {
    call->may_be_in_blocks = has_matrix_tiles(*context.best);
}

TableRows<AttentionKernel> attention_kernels(const gyre_context &context, size_t family) {
    return kernels.rows(*context.kernels, family);
}

std::vector<std::string_view> usable_scores(const gyre_context &context, gyre_device device) {
    std::vector<std::string_view> names;
    for (size_t family = 0; family < dispatch_rules().count; family++)
        for (const AttentionKernel &k : attention_kernels(context, family))
            if (!k.score.empty() && may_use(context, *k.kernel, device)) add_in_order(names, k.score);
    return names;
}

gyre_status refuse_score(const char *score, const std::vector<std::string_view> &usable) {
    std::string names;
    for (const std::string_view name : usable) names.append(names.empty() ? "" : ", ").append(name);
    return refuse(GYRE_UNSUPPORTED, "score", "no linked kernel has \"%.64s\"; linked: %s", score,
                  names.empty() ? "none" : names.c_str());
}

} // namespace gyre
