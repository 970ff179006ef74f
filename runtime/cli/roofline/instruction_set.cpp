#include "roofline.h"

namespace gyre::roofline {

const char *name(InstructionSet set) {
    switch (set) {
    case InstructionSet::sse:
        return "SSE mul + add";
    case InstructionSet::avx2:
        return "256-bit FMA";
    case InstructionSet::avx512:
        return "512-bit FMA";
    case InstructionSet::avx512_bf16:
        return "512-bit bf16 products";
    case InstructionSet::neon:
        return "NEON FMA";
    }
    return "";
}

std::optional<InstructionSet> instruction_set_of_kernel(std::string_view target, std::string_view attributes) {
    const auto has = [target](std::string_view part) { return target.find(part) != std::string_view::npos; };
    const bool multiplies_bf16 = attributes.find("operands=bf16") != std::string_view::npos;
    if (multiplies_bf16 && has("avx512_bf16")) return InstructionSet::avx512_bf16;
    if (has("x86_64"))
        return has("avx512") || has("amx")
                   ? InstructionSet::avx512 // of matrix tiles too: percentages above 100 are theirs
               : has("avx2") ? InstructionSet::avx2
                             : InstructionSet::sse;
    if (has("aarch64") || has("arm_64") || has("arm64")) return InstructionSet::neon;
    return std::nullopt;
}

} // namespace gyre::roofline
