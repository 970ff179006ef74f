# gyre_measure_stack(<program>): has the program's calls of the library, and the library's of pthread_create(), go through stack_use.cpp.
# Sanitizers have stacks of their own.
function(gyre_measure_stack program)
    if (CMAKE_CXX_FLAGS MATCHES "-fsanitize")
        return()
    endif ()
    target_sources(${program} PRIVATE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/stack_use.cpp")
    target_include_directories(${program} PRIVATE "${PROJECT_SOURCE_DIR}/include")
    foreach (operation IN ITEMS attention attention_backward attention_merge cache_append linear_attention linear_attention_backward
                                rotary rotary_qk)
        target_link_options(${program} PRIVATE "LINKER:--wrap=gyre_${operation},--wrap=gyre_${operation}_workspace_size")
    endforeach ()
    target_link_options(${program} PRIVATE "LINKER:--wrap=gyre_context_create,--wrap=pthread_create,--wrap=pthread_join")
endfunction()
