# Finds Halide 21: as CMake is told to, or inside the Python package `halide` of the interpreter on the PATH. It runs on the
# machine that builds, also when cross-compiling.

if (TARGET Halide::Halide)
    return()
endif ()

if (CMAKE_VERSION VERSION_LESS 3.28)
    message(FATAL_ERROR "gyre: Halide, which makes kernels, needs CMake 3.28 or later, this is ${CMAKE_VERSION}. Install one with "
                        "`python3 -m venv ~/halide && . ~/halide/bin/activate && pip install halide==21.0.0 cmake`")
endif ()

# Its package is of the machine that builds: it refuses projects with pointers of another size, and has shared libraries.
set(gyre_sizeof_void_p "${CMAKE_SIZEOF_VOID_P}")
set(CMAKE_SIZEOF_VOID_P 8)
get_property(gyre_shared_libs GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS)
set_property(GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS TRUE)
# Not by the PATH at first: the package that a Python environment there holds asks another interpreter where Halide is, where CMake is told of one.
find_package(Halide 21 QUIET NO_SYSTEM_ENVIRONMENT_PATH)
if (NOT Halide_FOUND)
    find_package(Python3 QUIET COMPONENTS Interpreter)
    if (Python3_FOUND)
        execute_process(
            COMMAND "${Python3_EXECUTABLE}" -c
                    "import importlib.util as u; print(u.find_spec('halide').submodule_search_locations[0])"
            OUTPUT_VARIABLE package OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        if (package)
            set(Halide_DIR "${package}/lib64/cmake/Halide")
            set(HalideHelpers_DIR "${package}/lib64/cmake/HalideHelpers")
        endif ()
    endif ()
    find_package(Halide 21 QUIET)
endif ()
set(CMAKE_SIZEOF_VOID_P "${gyre_sizeof_void_p}")
set_property(GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS "${gyre_shared_libs}")
if (NOT Halide_FOUND)
    message(FATAL_ERROR
            "gyre needs Halide 21. Install it with `python3 -m venv ~/halide && . ~/halide/bin/activate && pip install "
            "halide==21.0.0 cmake`, since the Python that is first on the PATH is asked for it, or set Halide_DIR and "
            "HalideHelpers_DIR to the folders that hold HalideConfig.cmake and HalideHelpersConfig.cmake. In a clone of gyre, "
            "`cmake/go build` does this by itself.")
endif ()
message(STATUS "gyre: Halide ${Halide_VERSION}")
