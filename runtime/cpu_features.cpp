#include "cpu_features.h"

#include "gyre/gyre.h"

#include <cstdint>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace gyre {
namespace {

struct Feature {
    const char *name;
    bool present;
};

#if defined(__x86_64__)

/// The register sets whose state the operating system saves on a context switch (XCR0), 0 without OSXSAVE.
uint64_t saved_registers() {
    uint32_t eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE)) return 0;
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return uint64_t{high} << 32 | low;
}

/// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A (CPUID) and volume 1, chapter 13
/// (XCR0).
struct Probe {
    Feature features[8];

    Probe() {
        uint32_t eax = 0, ebx = 0, ecx1 = 0, edx = 0, ebx7 = 0, ecx7 = 0;
        __get_cpuid(1, &eax, &ebx, &ecx1, &edx);
        __get_cpuid_count(7, 0, &eax, &ebx7, &ecx7, &edx);
        const uint64_t saved = saved_registers();
        const bool ymm = (saved & 0x06) == 0x06;        // XMM and YMM
        const bool zmm = ymm && (saved & 0xe0) == 0xe0; // opmasks and both halves of ZMM
        const bool avx = ymm && (ecx1 & bit_AVX);
        const bool avx512f = zmm && (ebx7 & bit_AVX512F);
        const Feature found[] = {
            {"avx2", avx && (ebx7 & bit_AVX2)},
            {"fma", avx && (ecx1 & bit_FMA)},
            {"f16c", avx && (ecx1 & bit_F16C)},
            {"avx512f", avx512f},
            {"avx512cd", avx512f && (ebx7 & bit_AVX512CD)},
            {"avx512bw", avx512f && (ebx7 & bit_AVX512BW)},
            {"avx512dq", avx512f && (ebx7 & bit_AVX512DQ)},
            {"avx512vl", avx512f && (ebx7 & bit_AVX512VL)},
        };
        for (size_t i = 0; i < 8; i++) features[i] = found[i];
    }
};

#else

struct Probe {
    Feature features[1] = {{"", false}};
};

#endif

const Probe &probe() {
    static const Probe once;
    return once;
}

} // namespace

bool cpu_has(std::string_view feature) {
    for (const Feature &f : probe().features)
        if (feature == f.name) return f.present;
    return false;
}

std::string_view first_missing_feature(std::string_view features) {
    while (!features.empty()) {
        const size_t end = features.find(' ');
        const std::string_view feature = features.substr(0, end);
        if (!cpu_has(feature)) return feature;
        features.remove_prefix(end == std::string_view::npos ? features.size() : end + 1);
    }
    return {};
}

} // namespace gyre

extern "C" const char *gyre_cpu_features(void) {
    static const std::string list = [] {
        std::string text;
        for (const gyre::Feature &f : gyre::probe().features)
            if (f.present) text += (text.empty() ? "" : " ") + std::string(f.name);
        return text;
    }();
    return list.c_str();
}
