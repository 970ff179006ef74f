# Programs of clang's libFuzzer in a project that another compiler builds.
set(gyre_fuzzer_folder "${CMAKE_CURRENT_BINARY_DIR}/libfuzzer")
file(MAKE_DIRECTORY "${gyre_fuzzer_folder}")

# C callers may pass any number as an enumeration, and it is checked: not a finding.
set(gyre_fuzzer_flags
    -std=c++17 -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=enum -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer -fprofile-instr-generate -fcoverage-mapping "-I${PROJECT_SOURCE_DIR}/include"
    "-I${PROJECT_SOURCE_DIR}/runtime" "-I${PROJECT_SOURCE_DIR}/runtime/cli" "-I${GYRE_GENERATORS_DIR}" "-I${PROJECT_SOURCE_DIR}/tests"
    "-I${PROJECT_BINARY_DIR}/runtime" "-I$<TARGET_PROPERTY:Halide::Runtime,INTERFACE_INCLUDE_DIRECTORIES>")

# gyre_fuzzer_objects(<out> <sources>…): objects of sources, by rules that exist once each.
function(gyre_fuzzer_objects out)
    set(objects "")
    foreach (source IN LISTS ARGN)
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
        cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE name)
        string(REPLACE "/" "_" file "${name}.o")
        set(object "${gyre_fuzzer_folder}/${file}")
        list(APPEND objects "${object}")
        get_property(known GLOBAL PROPERTY GYRE_FUZZER_OBJECTS)
        if (object IN_LIST known)
            continue()
        endif ()
        set_property(GLOBAL APPEND PROPERTY GYRE_FUZZER_OBJECTS "${object}")
        add_custom_command(OUTPUT "${object}" DEPENDS "${source}" DEPFILE "${object}.d" VERBATIM
                           COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} "${GYRE_FUZZ_CXX}" ${gyre_fuzzer_flags} -MD -MF
                                   "${object}.d" -MT "${object}" -c "${source}" -o "${object}"
                           COMMENT "fuzzed ${name}")
    endforeach ()
    set(${out} "${objects}" PARENT_SCOPE)
endfunction()

get_target_property(runtime gyre_runtime SOURCES)
list(FILTER runtime INCLUDE REGEX "\\.cpp$")
# A unit for each folder of the runtime, but for sources that stand alone: reading headers takes longer than compiling most of them.
set(folders "")
set(units "")
foreach (source IN LISTS runtime)
    cmake_path(GET source PARENT_PATH folder)
    set(source "${PROJECT_SOURCE_DIR}/runtime/${source}")
    get_source_file_property(alone "${source}" TARGET_DIRECTORY gyre_runtime SKIP_UNITY_BUILD_INCLUSION)
    if (alone)
        list(APPEND units "${source}")
    else ()
        list(APPEND folders "${folder}")
        string(APPEND unit_of_${folder} "#include \"${source}\"\n")
    endif ()
endforeach ()
list(REMOVE_DUPLICATES folders)
foreach (folder IN LISTS folders)
    file(CONFIGURE OUTPUT "${gyre_fuzzer_folder}/unit_of_${folder}.cpp" CONTENT "${unit_of_${folder}}" @ONLY)
    list(APPEND units "${gyre_fuzzer_folder}/unit_of_${folder}.cpp")
endforeach ()
gyre_fuzzer_objects(gyre_fuzzed_runtime ${units})
add_custom_target(gyre_fuzzers) # which `cmake/go fuzz` makes; the tests run one of them

# gyre_add_fuzzer(<name> [RUNTIME] <more sources>…): the program fuzz_<name>. RUNTIME: with the library, of which only kernels are
# taken from libgyre.a.
function(gyre_add_fuzzer name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "RUNTIME" "" "")
    gyre_fuzzer_objects(objects ${${name}_sources} ${arg_UNPARSED_ARGUMENTS})
    set(libraries "")
    if (arg_RUNTIME)
        list(APPEND objects ${gyre_fuzzed_runtime})
        set(libraries "$<TARGET_FILE:gyre>" -lpthread -ldl)
    endif ()
    set(program "${gyre_fuzzer_folder}/fuzz_${name}")
    add_custom_command(OUTPUT "${program}" DEPENDS ${objects} gyre VERBATIM
                       COMMAND "${GYRE_FUZZ_CXX}" -fsanitize=fuzzer,address,undefined -fprofile-instr-generate ${objects}
                               ${libraries} -o "${program}"
                       COMMENT "fuzz_${name}")
    add_custom_target(gyre_fuzz_${name}_program DEPENDS "${program}")
    add_dependencies(gyre_fuzzers gyre_fuzz_${name}_program)
endfunction()

# The suite over the same objects of the runtime, for its coverage: `fuzz.py --tests`. It is not built unless it is asked for.
set(suite "${gyre_fuzzer_folder}/tests_covered")
add_custom_command(OUTPUT "${suite}" DEPENDS ${gyre_fuzzed_runtime} gyre_tests VERBATIM COMMAND_EXPAND_LISTS
                   COMMAND "${GYRE_FUZZ_CXX}" -fsanitize=address,undefined -fprofile-instr-generate ${gyre_fuzzed_runtime}
                           "$<TARGET_OBJECTS:gyre_test_cases>" "$<TARGET_OBJECTS:gyre_test_support>" "$<TARGET_FILE:gyre_test_oracles>"
                           -Wl,--whole-archive "$<TARGET_FILE:gyre_score_shipped>" -Wl,--no-whole-archive "$<TARGET_FILE:gyre>"
                           -lpthread -ldl -o "${suite}"
                   COMMENT "tests_covered")
add_custom_target(gyre_tests_covered DEPENDS "${suite}")
