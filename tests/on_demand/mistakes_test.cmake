# Every mistake in a call of gyre_add_kernels() stops the configuration and says what is valid:
#
#     cmake -D PREFIX=<installed package> -D WORK=<scratch directory> -D GENERATOR=<name> -D CUDA=<is there an nvcc> -P mistakes_test.cmake

function(configure words result_out output_out)
    execute_process(COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/mistakes" -B "${WORK}/build" -G "${GENERATOR}"
                            "-DCMAKE_PREFIX_PATH=${PREFIX}" "-DWORDS=${words}" ${ARGN}
                    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    string(REGEX REPLACE "[ \n]+" " " output "${output}")
    set(${result_out} "${result}" PARENT_SCOPE)
    set(${output_out} "${output}" PARENT_SCOPE)
endfunction()

# refuse(<what the message must hold> <words of the call>)
function(refuse expected words)
    configure("${words}" result output ${ARGN})
    if (result EQUAL 0)
        message(SEND_ERROR "accepted: gyre_add_kernels(${words})")
    else ()
        string(FIND "${output}" "${expected}" at)
        if (at EQUAL -1)
            message(SEND_ERROR "gyre_add_kernels(${words}): expected \"${expected}\", got:\n${output}")
        endif ()
    endif ()
endfunction()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
set(good "k OPS attention HEAD_DIMS 64 TARGETS all")
configure("${good}" result output)
if (NOT result EQUAL 0)
    message(FATAL_ERROR "refused: gyre_add_kernels(${good}):\n${output}")
endif ()

refuse("no OPS; valid: rotary, attention" "k")
refuse("OPS: got atention, valid: rotary, attention" "k OPS atention")
refuse("DTYPES: got fp16, valid: f32, f16, bf16" "${good} DTYPES fp16")
refuse("attention needs HEAD_DIMS, 1 to 512" "k OPS attention")
foreach (size IN ITEMS 0 513 -8 64.5 big)
    refuse("HEAD_DIMS: got ${size}, valid: 1 to 512" "k OPS attention HEAD_DIMS 64 ${size}")
endforeach ()
refuse("FEATURES: got casual, valid: half, interleaved, causal, window" "${good} FEATURES casual")
refuse("TARGETS: x86_64_avx1024 is no target of" "k OPS rotary TARGETS x86_64_avx1024")
refuse("HEADS is no keyword; valid: OPS, DTYPES, HEAD_DIMS" "k HEADS 64 OPS rotary")
refuse("HEAD_DIM is no keyword; valid: OPS, DTYPES, HEAD_DIMS" "k OPS attention HEAD_DIM 64")
refuse("got 64, expected values after one of OPS, DTYPES" "k 64 OPS rotary")
refuse("got DTYPES, expected values after one of" "k OPS rotary DTYPES")
refuse("the name becomes part of symbols" "my-kernels OPS rotary")
refuse("the name becomes part of symbols" "gyre OPS rotary")
refuse("install is a target already, or a name that CMake keeps" "install OPS rotary")
refuse("taken is a target already" "taken OPS rotary")
refuse("TUNING: there is no" "${good} TUNING ${WORK}/nowhere.json")
refuse("SCORE: there is no" "${good} SCORE ${WORK}/nowhere.h")
file(WRITE "${WORK}/My-Score.h" "")
refuse("My-Score becomes the score's name" "${good} SCORE ${WORK}/My-Score.h")

set(device "k OPS attention DTYPES bf16 TARGETS cuda HEAD_DIMS")
refuse("TARGETS: cuda needs nvcc: GYRE_CUDA is OFF; valid: x86_64_amx" "${device} 64" -DGYRE_CUDA=OFF)
configure("${good}" result output -DGYRE_CUDA=AUTO)
if (CUDA) # What no kernel of a device does is not left out in silence.
    refuse("HEAD_DIMS: cuda has attention kernels of multiples of 16 up to 256, got 72" "${device} 64 72")
    refuse("HEAD_DIMS: cuda has attention kernels of multiples of 16 up to 256, got 512" "${device} 512")
    refuse("HEAD_DIMS: cuda has attention kernels of f32 of multiples of 16 up to 128, got 256"
           "k OPS attention HEAD_DIMS 64 256 TARGETS cuda")
    set(gradients "k OPS backward DTYPES bf16 TARGETS cuda")
    refuse("HEAD_DIMS: cuda has backward kernels of multiples of 16 up to 128, got 256" "${gradients} HEAD_DIMS 64 256")
    refuse("HEAD_DIMS: cuda has backward kernels of f32 of multiples of 16 up to 64, got 128" "k OPS backward HEAD_DIMS 128 TARGETS cuda")
    refuse("backward on cuda needs HEAD_DIMS" "${gradients}")
endif ()

# refuse_tuning(<what the message must hold> <contents of the file>)
function(refuse_tuning expected text)
    file(WRITE "${WORK}/tuning.json" "${text}")
    refuse("${expected}" "${good} TUNING ${WORK}/tuning.json")
endfunction()
refuse_tuning("tuning.json is no tuning file" "{")
refuse_tuning("tuning.json is no tuning file" "{\"kernels\": {}}")
refuse_tuning("x86_64_sse is no target; valid: x86_64_amx, x86_64_avx512_bf16, x86_64_avx512" "{\"target\": \"x86_64_sse\"}")
set(head "{\"target\": \"x86_64_avx2\", \"kernels\": {\"attention_plain_f32_d64\":")
refuse_tuning("key_blok is no knob of attention; valid: feature_chunk, feature_unroll, fold, key_block" "${head} {\"knobs\": {\"key_blok\": 64}}}}")
refuse_tuning("key_block is many, expected a whole number" "${head} {\"knobs\": {\"key_block\": \"many\"}}}}")
refuse_tuning("attention_plain_f32_d64 has no knobs" "${head} {}}}")
refuse_tuning("no kernel begins with convolution that has knobs"
              "{\"target\": \"x86_64_avx2\", \"kernels\": {\"convolution_f32\": {\"knobs\": {}}}}")

refuse_tuning("key_block is 100000, valid: 16 to 1024" "${head} {\"knobs\": {\"key_block\": 100000}}}}")
refuse_tuning("row_vectors is 0, valid: 1 to 6" "${head} {\"knobs\": {\"row_vectors\": 0}}}}")

# Entries that no kernel takes, and files for other targets, are told of; what is taken is not.
function(tune_with expected text)
    file(WRITE "${WORK}/tuning.json" "${text}")
    configure("k OPS attention HEAD_DIMS 72 TARGETS x86_64_avx2 TUNING ${WORK}/tuning.json" result output)
    string(FIND "${output}" "${expected}" at)
    if (expected STREQUAL "" AND output MATCHES "TUNING")
        message(SEND_ERROR "a warning of what is taken:\n${output}")
    elseif (NOT result EQUAL 0 OR at EQUAL -1)
        message(SEND_ERROR "expected \"${expected}\", got:\n${output}")
    endif ()
endfunction()
tune_with("no kernel takes kernels.attention_plain_f32_d72; made for x86_64_avx2: attention_decode_f32_dmax80, attention_general_f32_dmax80"
          "{\"target\": \"x86_64_avx2\", \"kernels\": {\"attention_plain_f32_d72\": {\"knobs\": {\"key_block\": 64}}}}")
tune_with("no kernel takes defaults.backward;" "{\"target\": \"x86_64_avx2\", \"defaults\": {\"backward\": {\"knobs\": {}}}}")
tune_with("tuning.json is for x86_64_avx512, which no kernel is made for" "{\"target\": \"x86_64_avx512\"}")
tune_with("" "{\"target\": \"x86_64_avx2\", \"kernels\": {\"attention_plain_f32_dmax80\": {\"knobs\": {\"key_block\": 64}}}}")

# What another library makes for a file's target is no reason to warn.
file(WRITE "${WORK}/tuning.json" "{\"target\": \"x86_64_avx512\", \"defaults\": {\"attention\": {\"knobs\": {}}}}")
configure("k OPS attention HEAD_DIMS 72 TARGETS x86_64_avx512" result output
          "-DNEXT_WORDS=next OPS attention HEAD_DIMS 72 TARGETS x86_64_avx2 TUNING ${WORK}/tuning.json")
if (NOT result EQUAL 0 OR output MATCHES "CMake Warning" OR NOT output MATCHES "is for x86_64_avx512, which no kernel is made for")
    message(SEND_ERROR "a file for another library's target: ${result}: ${output}")
endif ()

refuse("gyre needs Halide 21. Install it with" "${good}" -DCMAKE_DISABLE_FIND_PACKAGE_Halide=ON --fresh)

# A CMake that Halide does not take.
file(GLOB_RECURSE module "${PREFIX}/lib*/GyreHalide.cmake")
file(WRITE "${WORK}/old.cmake" "set(CMAKE_VERSION 3.25.1)\ninclude(\"${module}\")\n")
execute_process(COMMAND "${CMAKE_COMMAND}" -P "${WORK}/old.cmake" RESULT_VARIABLE result ERROR_VARIABLE output)
string(REGEX REPLACE "[ \n]+" " " output "${output}")
if (result EQUAL 0 OR NOT output MATCHES "needs CMake 3[.]28 or later, this is 3[.]25[.]1[.] Install one with")
    message(SEND_ERROR "with an old CMake: ${result}: ${output}")
endif ()
