# gyre_measure_stack(<program> [BESIDE <bytes>]): has the program's calls of the library, and the library's of pthread_create(), go
# through stack_use.cpp. BESIDE: what else is on the stack during a call. Sanitizers have stacks of their own.
function(gyre_measure_stack program)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "BESIDE" "")
    if (CMAKE_CXX_FLAGS MATCHES "-fsanitize")
        return()
    endif ()
    target_sources(${program} PRIVATE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/stack_use.cpp")
    if (arg_BESIDE)
        target_compile_definitions(${program} PRIVATE "GYRE_STACK_BESIDE_CALLS=${arg_BESIDE}")
    endif ()
    target_include_directories(${program} PRIVATE "${PROJECT_SOURCE_DIR}/include")
    foreach (operation IN ITEMS attention attention_backward attention_merge cache_append linear_attention linear_attention_backward
                                rotary rotary_qk)
        target_link_options(${program} PRIVATE "LINKER:--wrap=gyre_${operation},--wrap=gyre_${operation}_workspace_size")
    endforeach ()
    target_link_options(${program} PRIVATE "LINKER:--wrap=gyre_context_create,--wrap=pthread_create,--wrap=pthread_join")
endfunction()
