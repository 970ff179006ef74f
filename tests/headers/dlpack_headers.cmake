# gyre's headers beside dlpack.h, before and after it, in C and in C++: the system's, or one that declares the same.
find_path(GYRE_DLPACK_DIR dlpack/dlpack.h)
if (NOT GYRE_DLPACK_DIR)
    set(GYRE_DLPACK_DIR "${CMAKE_CURRENT_SOURCE_DIR}/support")
endif ()
set(dlpack_sources "")
foreach (order IN ITEMS before after)
    foreach (language IN ITEMS c cpp)
        set(gyre_header "gyre/gyre.h")
        set(call "gyre_tensor_from_dlpack(&tensor, &view) != GYRE_OK")
        if (language STREQUAL cpp)
            set(gyre_header "gyre/gyre.hpp")
            set(call "(view = gyre::view(tensor), view.rank != 1)")
        endif ()
        set(first "#include <${gyre_header}>\n")
        set(second "#include <dlpack/dlpack.h>\n")
        if (order STREQUAL after)
            set(includes "${second}${first}")
        else ()
            set(includes "${first}${second}")
        endif ()
        set(source "${CMAKE_CURRENT_BINARY_DIR}/dlpack_headers/${order}.${language}")
        file(CONFIGURE OUTPUT "${source}" CONTENT "${includes}
int main(void) {
    float data[3] = {1, 2, 3};
    int64_t shape[1] = {3};
    DLTensor tensor = {data, {kDLCPU, 0}, 1, {2, 32, 1}, shape, NULL, 4};
    gyre_tensor view;
    if (${call}) return 1;
    return view.data != data + 1 || view.strides[0] != 1;
}
")
        set(name "gyre_dlpack_${order}_${language}")
        add_executable(${name} "${source}")
        target_include_directories(${name} PRIVATE "${GYRE_DLPACK_DIR}")
        target_compile_options(${name} PRIVATE -Wpedantic -Werror)
        target_link_libraries(${name} PRIVATE gyre::gyre m)
        add_test(NAME "dlpack_headers:${order}_${language}" COMMAND ${name})
    endforeach ()
endforeach ()
