# The first step of an installation: one of less than the whole package stops before it writes anything, and says what to build.
set(files "")
foreach (target IN ITEMS gyre_runtime gyre gyre_shared gyre_modules gyre_cli)
    string(APPEND files " \"$<$<TARGET_EXISTS:${target}>:$<TARGET_FILE:${target}>>\"")
endforeach ()
install(CODE "
if (EXISTS \"${PROJECT_BINARY_DIR}/demo-limits\")
    message(FATAL_ERROR \"${PROJECT_BINARY_DIR} has the kernels of the demo alone. Run `cmake/go build`, then install.\")
endif ()
foreach (file IN ITEMS ${files})
    if (file AND NOT EXISTS \"\${file}\")
        message(FATAL_ERROR \"There is no \${file}. Run `cmake --build ${PROJECT_BINARY_DIR} --target gyre_package`, then install.\")
    endif ()
endforeach ()" ALL_COMPONENTS)
