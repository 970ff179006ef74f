# shellcheck shell=bash disable=SC2154,SC2164
# What each command of cmake/go does: run_<command>. Of cmake/go: $build, $tree, $root, $venv, $jobs, $caller, $words, $all, $aarch64.

sources() { find bench generators include runtime tests -name '*.[ch]' -print0 -o -name '*.[ch]pp' -print0; }

run_demo() {
    prepare cmake/requirements.txt
    configure
    build gyre gyre_cli
    python cmake/demo.py "$build/bin/gyre" "$build/demo"
}

run_test() {
    prepare cmake/requirements.txt cmake/requirements-{test,format,tune,wheel}.txt
    local checked=()
    [[ -z $all ]] || checked=(-DGYRE_CHECKED=all -DGYRE_TEST_RACES=ON)
    [[ -z $all ]] || ! type -p valgrind >/dev/null || checked+=(-DGYRE_TEST_MEMCHECK=ON)
    [[ -z $all ]] || ! type -p bochs >/dev/null || checked+=(-DGYRE_TEST_EMULATED_X86=ON)
    configure -DGYRE_BUILD_TESTS=ON "${checked[@]}"
    build all
    run_tests
    if [[ -z $all ]]; then
        left_out
    else
        for command in arm bare; do "run_$command"; done
    fi
}

run_arm() {
    prepare cmake/requirements.txt cmake/requirements-test.txt cmake/requirements-wheel.txt
    tree=$build/arm
    configure -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/aarch64-linux-gnu.cmake -DGYRE_BUILD_TESTS=ON
    build all
    run_tests
    tree=$build/arm32
    configure -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/arm-linux-gnueabihf.cmake -DGYRE_BUILD_TESTS=ON \
        "-DGYRE_GENERATORS=$build/arm/gyre_generators" -DGYRE_HEAD_DIMS=64 -DGYRE_DECODE_HEAD_DIMS=64 \
        "-DGYRE_PADDED_HEAD_DIMS=64;512"
    build all
    run_tests
}

run_bare() {
    local board toolchain
    prepare cmake/requirements.txt
    tree=$build
    configure
    say "building the generators"
    logged build ninja -C "$tree" -j "$jobs" gyre_rotary_generator gyre_attention_generator
    for board in host aarch64-none cortex-a32 cortex-m85 cortex-m55 cortex-m33 cortex-m7 cortex-m4 riscv32-none riscv64-none; do
        say "$board"
        toolchain=()
        [[ $board == host ]] || toolchain=(--toolchain "$root/cmake/toolchains/$board.cmake")
        logged "bare-$board" cmake -S runtime/embedded -B "$build/bare/$board" -G Ninja "${toolchain[@]}" \
            "-DPython3_EXECUTABLE=$venv/bin/python" "-DGYRE_GENERATORS=$build/gyre_generators"
        logged "bare-$board-build" ninja -C "$build/bare/$board" -j "$jobs"
        ctest --test-dir "$build/bare/$board" --verbose --no-label-summary
    done
}

run_fuzz() {
    prepare cmake/requirements.txt cmake/requirements-test.txt
    configure -DGYRE_BUILD_TESTS=ON
    local targets=(gyre_fuzzers)
    [[ " ${words[*]} " != *" --tests "* ]] || targets+=(gyre_tests_covered)
    build "${targets[@]}"
    release_lock
    python tests/fuzz/fuzz.py "$build/tests/fuzz/libfuzzer" --work "$build/fuzz" "${words[@]}"
}

run_mutants() {
    prepare cmake/requirements.txt cmake/requirements-test.txt
    release_lock
    GYRE_KERNEL_CACHE=${GYRE_KERNEL_CACHE:-$build/mutants/kernels} python tests/mutants/mutants.py --work "$build/mutants" \
        --jobs "$jobs" "${words[@]}"
}

run_kernel() {
    prepare cmake/requirements.txt
    if [[ ! -e $tree/build.ninja || -n $(to_take_back) ]] || ((${#definitions[@]})); then
        configure
    fi
    cd "$caller"
    python "$root/cmake/kernel.py" "$tree" "${words[@]}"
}

build_package() {
    prepare cmake/requirements.txt
    configure
    build gyre_package
}

run_build() {
    build_package
    say "done: $build/bin/gyre, $build/runtime/libgyre.a, $build/lib/libgyre.so; to install: cmake/go install FOLDER"
}

run_install() {
    local prefix
    [[ ${#words[@]} == 1 ]] || fail "install: expected one folder to install into, say cmake/go install ~/gyre"
    prefix=$(cd "$caller" && realpath -m "${words[0]}")
    build_package
    logged install cmake --install "$build" --prefix "$prefix"
    say "installed in $prefix; to use it: export PKG_CONFIG_PATH=$prefix/lib/pkgconfig, or CMAKE_PREFIX_PATH=$prefix"
}

run_uninstall() {
    [[ -e $build/install_manifest.txt ]] || fail "nothing was installed from $build"
    prepare cmake/requirements.txt
    logged uninstall cmake --build "$build" --target uninstall
    say "removed what the last installation wrote"
}

run_wheel() {
    local machine=x86_64 folder=$build/wheel platform=()
    prepare cmake/requirements.txt cmake/requirements-wheel.txt
    if [[ -n $aarch64 ]]; then
        machine=aarch64
        folder=$build/wheel-aarch64
        platform=(env _PYTHON_HOST_PLATFORM=linux-aarch64) # what Python says that it runs on
        tree=$build/arm
        configure -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/aarch64-linux-gnu.cmake
        build gyre_shared
    else
        configure
        build gyre_wheel_libraries
    fi
    say "packing the wheel for $machine"
    rm -rf "$folder"
    logged wheel "${platform[@]}" python -m pip wheel --disable-pip-version-check --no-build-isolation --no-deps --no-index -w "$folder/plain" \
        runtime/python --config-settings "build-dir=$folder/build" --config-settings "cmake.define.GYRE_BUILD_DIR=$tree"
    logged auditwheel auditwheel repair --exclude libtorch_cpu.so -w "$folder" "$folder/plain"/*.whl
    say "done: $(realpath --relative-to "$caller" "$folder"/*.whl)"
}

run_visit_archive() {
    prepare cmake/requirements.txt cmake/requirements-test.txt
    tree=$build/visit
    configure -DGYRE_BUILD_TESTS=ON -DGYRE_CUDA=ON -DGYRE_CUDA_HOPPER=ON "-DGYRE_CUDA_ARCHS=80;90" "-DGYRE_TARGETS=x86_64_generic;cuda_90a;cuda"
    build gyre_shared gyre_tests_device gyre_fake_cuda
    say "kernels with other knobs"
    logged variants cmake -S bench/cuda/variants -B "$build/visit-variants" -G Ninja "-DPython3_EXECUTABLE=$venv/bin/python" \
        "-DGYRE_SOURCE=$root" "-DGYRE_GENERATORS=$tree/gyre_generators" -DGYRE_CUDA=ON "-DGYRE_CUDA_ARCHS=80;90"
    logged variants-build ninja -C "$build/visit-variants" -j "$jobs"
    release_lock
    python bench/cuda/visit/archive.py "$tree" "$build/visit-variants/variants" "$build/gyre-visit.tar.xz"
}

run_lint() {
    prepare cmake/requirements.txt cmake/requirements-{format,lint}.txt
    python tests/structure/format_test.py || fail "run cmake/go format"
    configure -DGYRE_BUILD_TESTS=ON -DGYRE_BUILD_BENCH=ON
    say "clang-tidy, $jobs at once"
    python cmake/lint.py "$build" "$jobs"
    say "nothing found"
}

run_clean() {
    [[ ! -e $build || $build == "$root/build" || -e $build/.lock ]] || fail "$build is no folder that cmake/go has built in"
    [[ ! -e $build ]] || { take_lock && rm -rf "$build"; }
}

run_bench() {
    prepare cmake/requirements.txt
    configure -DGYRE_BUILD_BENCH=ON
    build gyre_bench
    release_lock
    "$build/bin/gyre_bench"
}

run_experiment() {
    prepare cmake/requirements.txt
    configure -DGYRE_BUILD_BENCH=ON
    build gyre_experiment
    release_lock
    python bench/experiment/experiment.py "$build/bin/gyre_experiment" --out "$build/experiment" "${words[@]}"
}

run_compare() {
    prepare cmake/requirements.txt
    configure
    build gyre_tune_runner # without kernels: the two libraries bring theirs
    release_lock
    cd "$caller"
    exec python -B "$build/share/gyre/tune/tune.py" compare "${words[@]}"
}

run_tune() {
    prepare cmake/requirements.txt cmake/requirements-tune.txt
    configure
    build gyre_cli gyre_tune_runner
    release_lock
    cd "$caller"
    GYRE_PYTHON=$venv/bin/python exec "$build/bin/gyre" tune "${words[@]}"
}

run_doc() {
    prepare cmake/requirements.txt
    configure
    build gyre_doc
    say "done: $build/doc/html/index.html"
}

run_format() {
    prepare cmake/requirements-format.txt
    sources | xargs -0 clang-format -i
    say "formatted"
}
