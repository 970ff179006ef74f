# Kernels that test cases need beside the library's. Included by CMakeLists.txt.

# Score functions: those that are shipped, and one that asks for everything.
set(score_files "")
foreach (score IN ITEMS alibi deberta document_mask shaw sliding_window_global t5_bidirectional t5_causal transformer_xl)
    list(APPEND score_files "${GYRE_GENERATORS_DIR}/attention/scores/${score}.h")
endforeach ()
list(APPEND score_files "${CMAKE_CURRENT_SOURCE_DIR}/attention/scores/probe.h")
file(GLOB tuning CONFIGURE_DEPENDS "${GYRE_GENERATORS_DIR}/tuning/*.json")
set(checked "")
set(unchecked "")
if (GYRE_CHECKED STREQUAL "once") # what asks for everything on every target, the others on that which runs on every machine
    set(checked "_probe_|__(x86_64_generic|arm_64_neon|arm_32_neon)$")
    gyre_unchecked_targets("${GYRE_TARGETS}" unchecked)
endif ()
set(targets ${GYRE_TARGETS}) # of the CPU: tests/cuda makes some for devices
foreach (target IN LISTS GYRE_TARGETS)
    if (GYRE_TARGET_${target}_DEVICE)
        list(REMOVE_ITEM targets ${target})
    endif ()
endforeach ()
gyre_begin_kernels(gyre_score FOLDER "${PROJECT_BINARY_DIR}/score_kernels" FLAVOURS shipped checked TARGETS ${targets}
                   TUNING ${tuning} CHECKED "${checked}" UNCHECKED ${unchecked})
gyre_add_variants(gyre_score OPS attention DTYPES f32 HEAD_DIMS 64 SCORE ${score_files})
# In 16 bits: on matrix tiles, and for the other machines on those targets that run on each of them.
set(narrow_scores "${CMAKE_CURRENT_SOURCE_DIR}/attention/scores/probe.h")
foreach (score IN ITEMS deberta t5_bidirectional)
    list(APPEND narrow_scores "${GYRE_GENERATORS_DIR}/attention/scores/${score}.h")
endforeach ()
set(narrow_targets x86_64_amx x86_64_generic arm_64_neon arm_32_neon)
gyre_add_variants(gyre_score OPS attention DTYPES f16 bf16 HEAD_DIMS 64 SCORE ${narrow_scores} TARGETS ${narrow_targets})
gyre_end_kernels(gyre_score)
foreach (flavour IN ITEMS shipped checked)
    gyre_kernel_sources(gyre_score ${flavour} sources)
    add_library(gyre_score_${flavour} STATIC ${sources})
    add_dependencies(gyre_score_${flavour} gyre_score_kernels_${flavour})
    target_include_directories(gyre_score_${flavour} PRIVATE "${PROJECT_SOURCE_DIR}/include")
endforeach ()
