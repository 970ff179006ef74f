# Test cases over the library, with their oracles: what a program of tests is made of. Included by CMakeLists.txt.

# Oracles and comparisons take most of the tests' time: they are optimised. Test cases are many: they are compiled quickly.
# What fuzzers take, too: definitions in double, what may be off by how much, and memory.
set(gyre_oracle_sources
    support/attention_allowance.cpp support/backward_allowance.cpp support/dense.cpp support/element.cpp support/kernel_facts.cpp
    support/linear_allowance.cpp support/oracle_append.cpp support/oracle_attention.cpp support/oracle_backward.cpp
    support/oracle_linear.cpp support/oracle_linear_backward.cpp support/oracle_merge.cpp support/oracle_rotary.cpp
    support/oracle_scores.cpp support/random.cpp
    support/tensor.cpp)
add_library(gyre_test_oracles STATIC ${gyre_oracle_sources})
target_include_directories(gyre_test_oracles PRIVATE "${PROJECT_SOURCE_DIR}/include")
add_library(gyre_test_support OBJECT
            main.cpp
            support/append_case.cpp
            support/attention_case.cpp
            support/backward_case.cpp
            support/compare.cpp
            support/linear_backward_case.cpp
            support/linear_case.cpp
            support/masked_garbage.cpp
            support/on_device.cpp
            support/random_linear.cpp
            support/rotary_case.cpp
            support/sanitizer_options.cpp
            support/score_models.cpp
            support/score_models_relative.cpp
            support/score_probe.cpp)
set_source_files_properties(main.cpp PROPERTIES COMPILE_OPTIONS -O1)
target_include_directories(gyre_test_support PRIVATE "${PROJECT_SOURCE_DIR}/include")
target_link_libraries(gyre_test_support PUBLIC gyre_test_oracles doctest::doctest ${CMAKE_DL_LIBS})
add_library(gyre_test_cases OBJECT
            attention/arguments_test.cpp
            attention/batch_as_heads_test.cpp
            attention/block_masks_test.cpp
            attention/decode_dropout_oracle_test.cpp
            attention/decode_dropout_test.cpp
            attention/decode_hidden_test.cpp
            attention/decode_options_test.cpp
            attention/decode_test.cpp
            attention/decode_wide_test.cpp
            attention/dropout_test.cpp
            attention/few_keys_test.cpp
            attention/float_tiles_test.cpp
            attention/few_rows_test.cpp
            attention/general_lengths_test.cpp
            attention/general_test.cpp
            attention/invariance_test.cpp attention/key_columns_test.cpp
            attention/lists_arguments_test.cpp
            attention/long_keys_test.cpp
            attention/many_rows_test.cpp
            attention/whole_rows_results_test.cpp
            attention/whole_rows_test.cpp
            attention/mask_ranges_test.cpp
            attention/masked_keys_test.cpp
            attention/masks_test.cpp
            attention/merge_test.cpp
            attention/nan_test.cpp
            attention/narrow_keys_test.cpp
            attention/narrow_scores_test.cpp
            attention/last_rows_test.cpp
            attention/uncopied_test.cpp
            attention/narrow_tile_test.cpp
            attention/transposed_keys_test.cpp
            attention/one_part_test.cpp
            attention/own_keys_test.cpp
            attention/padded_in_place_test.cpp
            attention/pages_test.cpp
            attention/pairs_in_place_test.cpp
            attention/plain_rows_test.cpp
            attention/positions_test.cpp
            attention/precision_test.cpp
            attention/prepared_mask_test.cpp
            attention/random_test.cpp
            attention/rotary_test.cpp
            attention/row_tiles_test.cpp
            attention/rows_in_turn_test.cpp
            attention/score_arguments_test.cpp
            attention/score_inputs_test.cpp
            attention/score_test.cpp
            attention/shared_heads_test.cpp
            attention/shapes_test.cpp
            attention/single_tile_test.cpp
            attention/threads_test.cpp
            attention/tiles_test.cpp
            attention/types_test.cpp
            attention/value_blocks_test.cpp
            attention/window_test.cpp
            backward/arguments_test.cpp
            backward/backward_test.cpp
            backward/bias_test.cpp
            backward/masked_gradients_test.cpp
            backward/precision_test.cpp
            backward/repeated_test.cpp
            backward/rounding_test.cpp
            cache/append_arguments_test.cpp
            cache/append_test.cpp
            core/addresses_test.cpp
            core/caller_state_test.cpp
            core/contract_test.cpp
            core/default_contexts_test.cpp
            core/dispatch_test.cpp
            core/forced_target_test.cpp
            core/reachable_kernels_test.cpp
            core/dlpack_test.cpp
            core/enumeration_test.cpp
            core/errors_test.cpp
            core/far_tensors_test.cpp
            core/last_error_test.cpp
            core/older_and_newer_callers_test.cpp
            core/one_element_strides_test.cpp
            core/overlap_test.cpp
            core/processes_test.cpp
            core/reads_apart_test.cpp
            core/registry_lifetimes_test.cpp
            core/registry_test.cpp
            core/seldom_refused_test.cpp
            core/target_choice_test.cpp
            core/workspace_apart_test.cpp
            core/workspace_size_test.cpp
            cpu/held_threads_test.cpp
            cpu/places_test.cpp
            cpu/subnormals_test.cpp
            frequencies/arguments_test.cpp
            frequencies/frequencies_test.cpp
            headers/hpp_test.cpp
            linear/arguments_test.cpp
            linear/backward_test.cpp
            linear/invariance_test.cpp
            linear/linear_test.cpp
            linear/masked_linear_test.cpp
            linear/numbers_test.cpp
            rotary/angles_test.cpp
            rotary/arguments_test.cpp
            rotary/memory_test.cpp
            rotary/qk_test.cpp
            rotary/rope_arguments_test.cpp
            rotary/rope_table_types_test.cpp
            rotary/rope_tables_test.cpp
            rotary/rotary_test.cpp
            support/attention_allowance_test.cpp
            support/tensor_test.cpp)
set_source_files_properties(cpu/subnormals_test.cpp PROPERTIES COMPILE_DEFINITIONS "GYRE_GUIDE=\"${PROJECT_SOURCE_DIR}/include/gyre/promises.md\"")
if (x86_64_amx IN_LIST GYRE_TARGETS) # what kernels of no other target do
    target_sources(gyre_test_cases PRIVATE attention/bound_test.cpp attention/capped_scores_test.cpp attention/formed_test.cpp
                                             attention/small_scores_test.cpp)
endif ()
if (x86_64_avx2 IN_LIST GYRE_TARGETS) # and what x86 kernels alone do
    target_sources(gyre_test_cases PRIVATE rotary/streaming_test.cpp)
endif ()
gyre_write_part_list("${CMAKE_CURRENT_BINARY_DIR}/gyre_parts.inc")
target_include_directories(gyre_test_cases PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
target_compile_options(gyre_test_cases PRIVATE -O1)
target_precompile_headers(gyre_test_cases PRIVATE <doctest/doctest.h> <gyre/gyre.h> <algorithm> <cmath> <deque> <functional>
                          <map> <random> <string> <vector>)
target_include_directories(gyre_test_cases PRIVATE "${PROJECT_SOURCE_DIR}/include" "${CMAKE_CURRENT_SOURCE_DIR}")
target_include_directories(gyre_test_cases SYSTEM PRIVATE # support/said_arguments.h
                           "$<TARGET_PROPERTY:Halide::Runtime,INTERFACE_INCLUDE_DIRECTORIES>")
target_link_libraries(gyre_test_cases PUBLIC doctest::doctest ${CMAKE_DL_LIBS})

function(gyre_add_test_cases name label)
    add_executable(${name})
    target_link_libraries(${name} PRIVATE gyre_test_cases gyre_test_support ${ARGN})
    # A name that ctest's list cannot hold, say with a semicolon, would select no test case and pass.
    doctest_discover_tests(${name} TEST_PREFIX "${label}:" WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
                           PROPERTIES LABELS ${label} FAIL_REGULAR_EXPRESSION "test cases: +0 ")
endfunction()
