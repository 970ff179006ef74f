# Every machine that kernels are made for. The one place a target is defined; a new one is one row (and a toolchain if it is
# cross-compiled).
#
#   gyre_add_target(<name> ARCH <processor> HALIDE <Halide target> FEATURES <what the machine must have>
#                   [MACHINE <word> [REST <target>] [MATRICES [WHOLE]]] [FEW] [LLC <options>] [STAND_INS <script>]
#                   [DEVICE cuda [ARCH_OF_DEVICE <capability>] [HEAD_DIMS <sizes>]] [PARAMETERS <name=value>…])
#
# MACHINE: it has only the kernels that generators/families.json gives to this kind of machine; else all of `cpu`. REST: the target,
# further down, whose kernels serve for the others, also where this target is forced. Without REST nothing does.
# MATRICES: attention multiplies matrices there, which more sizes gain by kernels of their own for. WHOLE: a padded kernel computes all features
# that it has room for, so that there are padded ones of more sizes. Elsewhere it computes the call's.
# FEW: the library gyre has attention for it in the largest padded kernels alone: it is there so that every machine is served.
# DEVICE: its kernels take tensors on such devices and no others; they have generators of their own, <operation>_cuda. The row
# is there if its compiler is (GyreCuda.cmake). Rows of devices come last. ARCH_OF_DEVICE: machine code is for this compute capability alone,
# not for GYRE_CUDA_ARCHS. HEAD_DIMS: it has kernels of these head sizes alone.
# PARAMETERS: of the generators of its kernels, beside a kernel's own.
# STAND_INS: Halide does not know some of the instructions; others stand for them until this script of this folder, .cmake, has
# replaced them in the kernels' assembly.
# LLC: Halide has no such instruction set; its LLVM assembly becomes an object by LLVM's llc with these options.
#
# Order matters: best first. The registry keeps it and dispatch takes the first that runs. The last row of an architecture
# asks for nothing, but of 32-bit ARM. FEATURES are names that runtime/cpu/cpu_features.cpp probes; for x86 they are those of
# /proc/cpuinfo.
#
# Sets GYRE_KNOWN_TARGETS, GYRE_TARGETS_HERE (those of the architecture that is compiled for), and of each row
# GYRE_TARGET_<name>_ARCH, _HALIDE, _FEATURES, _MACHINE, _REST, _MATRICES, _WHOLE, _FEW, _LLC, _STAND_INS, _DEVICE, _ARCH_OF_DEVICE,
# _HEAD_DIMS and _PARAMETERS.

set(GYRE_KNOWN_TARGETS "")
set(GYRE_TARGETS_HERE "")
macro(gyre_add_target name)
    cmake_parse_arguments(arg "MATRICES;WHOLE;FEW" "ARCH;HALIDE;MACHINE;REST;LLC;STAND_INS;DEVICE;ARCH_OF_DEVICE" "FEATURES;HEAD_DIMS;PARAMETERS" ${ARGN})
    list(APPEND GYRE_KNOWN_TARGETS ${name})
    set(GYRE_TARGET_${name}_ARCH "${arg_ARCH}")
    set(GYRE_TARGET_${name}_HALIDE "${arg_HALIDE}")
    set(GYRE_TARGET_${name}_FEATURES "${arg_FEATURES}")
    set(GYRE_TARGET_${name}_MACHINE "${arg_MACHINE}")
    set(GYRE_TARGET_${name}_REST "${arg_REST}")
    set(GYRE_TARGET_${name}_MATRICES "${arg_MATRICES}")
    set(GYRE_TARGET_${name}_WHOLE "${arg_WHOLE}")
    set(GYRE_TARGET_${name}_FEW "${arg_FEW}")
    set(GYRE_TARGET_${name}_LLC "${arg_LLC}")
    set(GYRE_TARGET_${name}_STAND_INS "${arg_STAND_INS}")
    set(GYRE_TARGET_${name}_DEVICE "${arg_DEVICE}")
    set(GYRE_TARGET_${name}_ARCH_OF_DEVICE "${arg_ARCH_OF_DEVICE}")
    set(GYRE_TARGET_${name}_HEAD_DIMS "${arg_HEAD_DIMS}")
    set(GYRE_TARGET_${name}_PARAMETERS "${arg_PARAMETERS}")
    if (arg_ARCH STREQUAL CMAKE_SYSTEM_PROCESSOR AND (gyre_has_cuda OR NOT arg_DEVICE))
        list(APPEND GYRE_TARGETS_HERE ${name})
    endif ()
endmacro()

gyre_add_target(x86_64_amx     ARCH x86_64
                HALIDE x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake-avx512_cannonlake-avx512_zen4-avx512_sapphirerapids
                FEATURES avx2 fma f16c avx512f avx512cd avx512bw avx512dq avx512vl avx512ifma avx512vbmi avx512_vbmi2
                         avx512_vnni avx512_bitalg avx512_vpopcntdq avx512_bf16 avx512_fp16 amx_tile amx_int8 amx_bf16
                MACHINE amx REST x86_64_avx512_bf16 MATRICES)
gyre_add_target(x86_64_avx512_bf16 ARCH x86_64 # Zen 4, Sapphire Rapids
                HALIDE x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake-avx512_cannonlake-avx512_zen4
                FEATURES avx2 fma f16c avx512f avx512cd avx512bw avx512dq avx512vl avx512ifma avx512vbmi avx512_vbmi2
                         avx512_vnni avx512_bitalg avx512_vpopcntdq avx512_bf16
                MACHINE avx512_bf16 REST x86_64_avx512)
gyre_add_target(x86_64_avx512  ARCH x86_64
                HALIDE x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake
                FEATURES avx2 fma f16c avx512f avx512cd avx512bw avx512dq avx512vl)
gyre_add_target(x86_64_avx2    ARCH x86_64
                HALIDE x86-64-linux-sse41-avx-f16c-fma-avx2
                FEATURES avx2 fma f16c)
gyre_add_target(x86_64_generic ARCH x86_64
                HALIDE x86-64-linux FEW)
gyre_add_target(arm_64_bf16    ARCH aarch64 # Neoverse V1, N2, V2, Cortex-A510, A710 and later
                HALIDE arm-64-linux-arm_fp16-arm_dot_prod # sdot and fcvtn stand for bfmmla and bfcvtn
                FEATURES bf16 STAND_INS bf16_instructions
                MACHINE bfmmla REST arm_64_neon MATRICES WHOLE)
gyre_add_target(arm_64_neon    ARCH aarch64
                HALIDE arm-64-linux-arm_fp16) # arithmetic is in f32: only conversions come of it, which every core has
# Neither SVE nor arithmetic of ARMv8.2 in f16, nor RISC-V: bench/arm/README.md says why.
# 32-bit cores without NEON and half-precision conversions (which come with VFPv4) have no row: calls are refused there.
# Halide's arm_fp16 would also load halves by instructions of ARMv8.2.
gyre_add_target(arm_32_neon    ARCH armv7
                HALIDE arm-32-linux
                FEATURES neon vfpv4)

# Kernels of devices are launched by a host: x86-64, or 64-bit ARM beside a Grace Hopper's or a Jetson's.
if (CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    set(gyre_device_host aarch64)
    set(gyre_device_halide arm-64-linux-cuda-cuda_capability_80)
else ()
    set(gyre_device_host x86_64)
    set(gyre_device_halide x86-64-linux-cuda-cuda_capability_80)
endif ()
if (GYRE_CUDA_HOPPER)
    gyre_add_target(cuda_90a   ARCH ${gyre_device_host} DEVICE cuda ARCH_OF_DEVICE 90a
                    HALIDE ${gyre_device_halide}
                    FEATURES cuda cuda_90a
                    MACHINE cuda_90a REST cuda HEAD_DIMS 64 128 256 PARAMETERS warpgroups=true)
endif ()
gyre_add_target(cuda           ARCH ${gyre_device_host} DEVICE cuda
                HALIDE ${gyre_device_halide}
                FEATURES cuda
                MACHINE cuda)

# Without an operating system: for gyre_embedded (cmake/GyreEmbedded.cmake).
gyre_add_target(arm_64_bare    ARCH aarch64-none
                HALIDE arm-64-noos-arm_fp16)
gyre_add_target(cortex_a32     ARCH cortex-a32
                HALIDE arm-32-noos-no_neon-arm_fp16 LLC "-mtriple=thumbv8a-none-eabihf -mcpu=cortex-a32")
gyre_add_target(cortex_m55     ARCH cortex-m55
                HALIDE arm-32-noos-no_neon-arm_fp16 LLC "-mtriple=thumbv8.1m.main-none-eabihf -mcpu=cortex-m55")
gyre_add_target(cortex_m85     ARCH cortex-m85
                HALIDE arm-32-noos-no_neon-arm_fp16 LLC "-mtriple=thumbv8.1m.main-none-eabihf -mcpu=cortex-m85")
gyre_add_target(cortex_m7      ARCH cortex-m7
                HALIDE arm-32-noos-no_neon-arm_fp16 LLC "-mtriple=thumbv7em-none-eabihf -mcpu=cortex-m7")
gyre_add_target(cortex_m33     ARCH cortex-m33
                HALIDE arm-32-noos-no_neon-arm_fp16 LLC "-mtriple=thumbv8m.main-none-eabihf -mcpu=cortex-m33")
gyre_add_target(cortex_m4      ARCH cortex-m4
                HALIDE arm-32-noos-no_neon-arm_fp16 LLC "-mtriple=thumbv7em-none-eabihf -mcpu=cortex-m4")
# Halide asks RISC-V for vectors. Its LLVM assembly for ARM without NEON names no instruction of ARM's.
gyre_add_target(riscv_32       ARCH riscv32-none
                HALIDE arm-32-noos-no_neon LLC "-mtriple=riscv32-unknown-elf -mattr=+m,+a,+f,+c -target-abi=ilp32f -code-model=medium")
gyre_add_target(riscv_64       ARCH riscv64-none
                HALIDE arm-64-noos-no_neon LLC "-mtriple=riscv64-unknown-elf -mattr=+m,+a,+f,+d,+c -target-abi=lp64d -code-model=medium")

# gyre_write_target_list(<file>): the rows of this architecture as C++, best first.
function(gyre_write_target_list file)
    set(rows "")
    foreach (target IN LISTS GYRE_TARGETS_HERE)
        list(JOIN GYRE_TARGET_${target}_FEATURES " " features)
        set(device GYRE_CPU)
        if (GYRE_TARGET_${target}_DEVICE)
            set(device GYRE_CUDA)
        endif ()
        string(APPEND rows "{\"${target}\", \"${features}\", \"${GYRE_TARGET_${target}_REST}\", ${device}},\n")
    endforeach ()
    file(CONFIGURE OUTPUT "${file}" CONTENT "${rows}")
endfunction()

# gyre_find_targets(<list> <error>): resolves in the list `host`, the best target that this machine can run, `cpu`, all of this
# architecture but devices', and `all`; at a name that is none of this architecture's, <error> says what is valid. Without an operating system processors go by many
# names: there any of its targets is.
function(gyre_find_targets list error)
    set(targets "")
    set(here ${GYRE_TARGETS_HERE})
    if (CMAKE_SYSTEM_NAME STREQUAL "Generic")
        foreach (target IN LISTS GYRE_KNOWN_TARGETS)
            if (GYRE_TARGET_${target}_HALIDE MATCHES "-noos" AND NOT target IN_LIST here)
                list(APPEND here ${target})
            endif ()
        endforeach ()
    endif ()
    set(${error} "" PARENT_SCOPE)
    foreach (target IN LISTS ${list})
        if (target STREQUAL "all" AND GYRE_TARGETS_HERE)
            list(APPEND targets ${GYRE_TARGETS_HERE})
        elseif (target STREQUAL "cpu" AND GYRE_TARGETS_HERE)
            foreach (each IN LISTS GYRE_TARGETS_HERE)
                if (NOT GYRE_TARGET_${each}_DEVICE)
                    list(APPEND targets ${each})
                endif ()
            endforeach ()
        elseif (target STREQUAL "host" AND NOT CMAKE_CROSSCOMPILING)
            gyre_find_host_target(host)
            list(APPEND targets ${host})
        elseif (target IN_LIST here)
            list(APPEND targets ${target})
        else ()
            list(JOIN here ", " valid)
            if (NOT CMAKE_CROSSCOMPILING)
                string(APPEND valid ", host")
            endif ()
            if (GYRE_TARGETS_HERE)
                string(APPEND valid ", cpu, all")
            endif ()
            set(what "is no target of ${CMAKE_SYSTEM_PROCESSOR}")
            if (GYRE_TARGET_${target}_ARCH STREQUAL CMAKE_SYSTEM_PROCESSOR AND GYRE_TARGET_${target}_DEVICE)
                set(what "needs ${gyre_cuda_needs}: ${gyre_cuda_why}")
            endif ()
            set(${error} "${target} ${what}; valid: ${valid}" PARENT_SCOPE)
            return()
        endif ()
    endforeach ()
    list(REMOVE_DUPLICATES targets)
    set(${list} "${targets}" PARENT_SCOPE)
endfunction()

# gyre_missing_features(<target> <out>): what this machine lacks for it.
function(gyre_missing_features target out)
    file(STRINGS /proc/cpuinfo flags REGEX "^(flags|Features)" LIMIT_COUNT 1)
    string(REGEX MATCHALL "[a-z0-9_]+" flags "${flags}")
    set(missing ${GYRE_TARGET_${target}_FEATURES})
    list(REMOVE_ITEM missing ${flags} "")
    set(${out} "${missing}" PARENT_SCOPE)
endfunction()

# gyre_unchecked_targets(<targets> <out>): those that tests with assertions do without: what this machine cannot run, and AVX2 beside
# AVX-512, whose schedules it shares.
function(gyre_unchecked_targets targets out)
    set(unchecked "")
    if (NOT CMAKE_CROSSCOMPILING)
        foreach (target IN LISTS targets)
            gyre_missing_features(${target} missing)
            if (missing)
                list(APPEND unchecked ${target})
            endif ()
        endforeach ()
        if (x86_64_avx512 IN_LIST targets AND NOT x86_64_avx512 IN_LIST unchecked)
            list(APPEND unchecked x86_64_avx2)
        endif ()
    endif ()
    set(${out} "${unchecked}" PARENT_SCOPE)
endfunction()

# The first row whose features this machine has.
function(gyre_find_host_target out)
    foreach (target IN LISTS GYRE_TARGETS_HERE)
        gyre_missing_features(${target} missing)
        if (NOT missing)
            set(${out} ${target} PARENT_SCOPE)
            return()
        endif ()
    endforeach ()
endfunction()
