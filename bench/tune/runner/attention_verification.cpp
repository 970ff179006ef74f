/// Attention kernels against the oracle. Everything around the tensors is NaN, and must stay it.
#include "attention_cases.h"
#include "verification.h"

namespace gyre::tune {

int verify_attention(gyre_context *context, const gyre_kernel_info &kernel, const Effort &effort) {
    const Tiles tiles(kernel);
    std::vector<AttentionCase> cases = effort.only     ? timed_cases(*effort.only)
                                       : tiles.partial ? decode_cases(tiles)
                                                       : plain_cases(tiles);
    for (std::uint64_t seed = 1; effort.thorough && seed <= 12; seed++) cases.push_back(random_case(tiles, seed));
    // The general family's kernels run only calls that need them: a slope of ALiBi that changes nothing makes them
    // serve all others, too.
    const auto make_general = [](CheckedAttention &c) {
        if (c.args.alibi || !c.extents.heads) return;
        c.args.alibi = c.hold(GYRE_F32, std::vector<double>(std::size_t(c.extents.heads), 0.0));
    };
    if (tiles.general && !effort.only)
        for (AttentionCase &more : general_cases(tiles)) cases.push_back(more);
    std::uint64_t seed = 1;
    for (const AttentionCase &each : cases) {
        CheckedAttention call(dtype_of(kernel), each.extents, each.layout, seed++);
        each.set(call);
        if (tiles.general) make_general(call);
        call.check(context, each.what);
    }
    return int(cases.size());
}

} // namespace gyre::tune
