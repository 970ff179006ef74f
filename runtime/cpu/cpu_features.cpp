#include "cpu/cpu_features.h"

#include "cpu/tile_registers.h"

#include <cstdint>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if (defined(__arm__) || defined(__aarch64__)) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace gyre {
namespace {

struct Feature {
    std::string_view name;
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
    Feature features[19];

    Probe() {
        uint32_t eax = 0;
        uint32_t ebx = 0;
        uint32_t ecx1 = 0;
        uint32_t edx = 0;
        uint32_t ebx7 = 0;
        uint32_t ecx7 = 0;
        uint32_t edx7 = 0;
        uint32_t eax7_1 = 0;
        __get_cpuid(1, &eax, &ebx, &ecx1, &edx);
        __get_cpuid_count(7, 0, &eax, &ebx7, &ecx7, &edx7);
        if (eax >= 1) __get_cpuid_count(7, 1, &eax7_1, &ebx, &eax, &edx);
        const uint64_t saved = saved_registers();
        const bool ymm = (saved & 0x06) == 0x06;        // XMM and YMM
        const bool zmm = ymm && (saved & 0xe0) == 0xe0; // opmasks and both halves of ZMM
        const bool avx = ymm && (ecx1 & bit_AVX);
        const bool avx512f = zmm && (ebx7 & bit_AVX512F);
        const auto bit = [](uint32_t word, int index) { return (word >> index & 1) != 0; };
        const bool tiles = (saved & 0x60000) == 0x60000 && bit(edx7, 24) && tiles_supported(); // configuration and data
        const Feature found[] = {
            {"avx2", avx && (ebx7 & bit_AVX2)},
            {"fma", avx && (ecx1 & bit_FMA)},
            {"f16c", avx && (ecx1 & bit_F16C)},
            {"avx512f", avx512f},
            {"avx512cd", avx512f && (ebx7 & bit_AVX512CD)},
            {"avx512bw", avx512f && (ebx7 & bit_AVX512BW)},
            {"avx512dq", avx512f && (ebx7 & bit_AVX512DQ)},
            {"avx512vl", avx512f && (ebx7 & bit_AVX512VL)},
            {"avx512ifma", avx512f && bit(ebx7, 21)},
            {"avx512vbmi", avx512f && bit(ecx7, 1)},
            {"avx512_vbmi2", avx512f && bit(ecx7, 6)},
            {"avx512_vnni", avx512f && bit(ecx7, 11)},
            {"avx512_bitalg", avx512f && bit(ecx7, 12)},
            {"avx512_vpopcntdq", avx512f && bit(ecx7, 14)},
            {"avx512_bf16", avx512f && bit(eax7_1, 5)},
            {"avx512_fp16", avx512f && bit(edx7, 23)},
            {"amx_tile", tiles},
            {"amx_int8", tiles && bit(edx7, 25)},
            {"amx_bf16", tiles && bit(edx7, 22)},
        };
        static_assert(sizeof found == sizeof features);
        for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) features[i] = found[i];
    }
};

#elif defined(__arm__) && defined(__linux__)

/// Source: Linux, arch/arm/include/uapi/asm/hwcap.h.
struct Probe {
    const unsigned long has = getauxval(AT_HWCAP);
    Feature features[2] = {{"neon", (has >> 12 & 1) != 0}, {"vfpv4", (has >> 16 & 1) != 0}};
};

#elif defined(__aarch64__) && defined(__linux__)

/// Source: Linux, arch/arm64/include/uapi/asm/hwcap.h.
struct Probe {
    Feature features[1] = {{"bf16", (getauxval(AT_HWCAP2) >> 14 & 1) != 0}};
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

bool has_slow_bf16_dots() {
#if defined(__x86_64__)
    static const bool of_intel = [] {
        constexpr uint32_t genu = 0x756e6547; // the first letters of GenuineIntel
        uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
        return __get_cpuid(0, &eax, &ebx, &ecx, &edx) && ebx == genu;
    }();
    return of_intel;
#else
    return false;
#endif
}

std::string cpu_features() {
    std::string list;
    for (const Feature &f : probe().features)
        if (f.present) list += (list.empty() ? "" : " ") + std::string(f.name);
    return list;
}

bool obtain_features(std::string_view features) {
#if defined(__x86_64__)
    return features.find("amx_") == std::string_view::npos || request_tiles();
#else
    static_cast<void>(features);
    return true;
#endif
}

} // namespace gyre
