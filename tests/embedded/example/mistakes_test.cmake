# Mistakes in a call of gyre_add_kernels() for a machine without an operating system:
#   cmake -D WORK=… -D OPTIONS=<of cmake> -P mistakes_test.cmake
file(REMOVE_RECURSE "${WORK}")
function(refuse expected words)
    execute_process(COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/../../on_demand/mistakes" -B "${WORK}" ${OPTIONS}
                            "-DWORDS=k ${words}" ${ARGN}
                    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    string(REGEX REPLACE "[ \n]+" " " output "${output}")
    string(FIND "${output}" "${expected}" at)
    if (result EQUAL 0 OR at EQUAL -1)
        message(SEND_ERROR "gyre_add_kernels(k ${words}): expected \"${expected}\", got:\n${output}")
    endif ()
endfunction()

refuse("TARGETS: got cortex_m55;cortex_m4, expected one" "OPS rotary TARGETS cortex_m55 cortex_m4")
refuse("TARGETS: x86_64_avx2 is no target of" "OPS rotary TARGETS x86_64_avx2")
refuse("DTYPES: got bf16, valid: f32, f16, f32_f16, i8, i8_integer, q15" "OPS rotary DTYPES bf16 TARGETS cortex_m55")
refuse("HEAD_DIMS: got 72, valid for cortex_m55: multiples of 16" "OPS attention HEAD_DIMS 72 TARGETS cortex_m55")
refuse("FEATURES: got bias, valid: half, interleaved, causal" "OPS rotary FEATURES bias TARGETS cortex_m55")
refuse("SCORE: cortex_m55 takes no score functions"
       "OPS attention HEAD_DIMS 64 SCORE ${CMAKE_CURRENT_LIST_DIR}/main.c TARGETS cortex_m55")
refuse("i8_integer: scores by integers take the DSP instructions of Cortex-M4, M7 and M33, got cortex_m55"
       "OPS attention HEAD_DIMS 64 DTYPES i8_integer TARGETS cortex_m55")
refuse("kernels pass floats in registers, and need -mfloat-abi=hard, got -mfloat-abi=softfp" "OPS rotary TARGETS cortex_m4"
       "-DCMAKE_C_FLAGS=-mthumb -mcpu=cortex-m4 -mfloat-abi=softfp")
refuse("kernels for cortex_m55 do not run on the compiler's -mcpu=cortex-m4; they run on: cortex-m55, cortex-m52, cortex-m85"
       "OPS rotary TARGETS cortex_m55" "-DCMAKE_C_FLAGS=-mthumb -mcpu=cortex-m4 -mfloat-abi=hard")
foreach (target IN ITEMS arm_64_bare riscv_32 riscv_64)
    refuse("kernels for ${target} need a compiler for" "OPS rotary TARGETS ${target}")
endforeach ()
find_program(riscv riscv64-unknown-elf-gcc)
if (riscv)
    file(REMOVE_RECURSE "${WORK}") # of another toolchain
    refuse("riscv64-unknown-elf-gcc -march=rv32imac -mabi=ilp32 does not define __riscv_float_abi_single" "OPS rotary TARGETS riscv_32"
           --toolchain "${CMAKE_CURRENT_LIST_DIR}/../../../cmake/toolchains/riscv32-none.cmake"
           "-DCMAKE_C_FLAGS=-march=rv32imac -mabi=ilp32")
endif ()
