# shellcheck shell=bash disable=SC2154,SC2034
# Configuring and building. Sourced by cmake/go.

# What the demo runs: the kernels of a fresh folder, until another command asks for all.
demo_limits=("GYRE_TARGETS=host;x86_64_generic" "GYRE_OPS=rotary;attention" "GYRE_FEATURES=half;causal;rope;roper" GYRE_HEAD_DIMS=64
    GYRE_PADDED_HEAD_DIMS= GYRE_MATRIX_HEAD_DIMS= GYRE_MATRIX_PADDED_HEAD_DIMS= GYRE_ATTENTION_DTYPES=f32 GYRE_CUDA=OFF)

# limited: the names of the options that the demo has limited in $tree.
limited() { cat "$tree/demo-limits" 2>/dev/null || true; }

# configure <CMake options>. Options are only ever added: what one command has built stays for the others. What stands on the
# command line of cmake/go comes last.
configure() {
    say "configuring"
    local home limit name unset=()
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$tree/CMakeCache.txt" 2>/dev/null || true)
    [[ -z $home || $home == "$root" ]] || fail "$tree was configured for $home; run cmake/go clean first"
    [[ -n $home ]] || set -- -DGYRE_BUILD_TESTS=OFF -DGYRE_BUILD_BENCH=OFF "$@"
    if [[ $command == demo && -z $home ]]; then
        mkdir -p "$tree"
        for limit in "${demo_limits[@]}"; do
            name=${limit%%=*}
            [[ " ${definitions[*]}" == *" -D$name"[:=]* ]] && continue
            set -- "$@" "-D$limit"
            printf '%s\n' "$name" >>"$tree/demo-limits"
        done
    elif [[ $command != demo ]]; then
        for name in $(limited); do unset+=("-U$name"); done
    fi
    logged configure cmake -S . -B "$tree" -G Ninja "-DPython3_EXECUTABLE=$venv/bin/python" "${unset[@]}" "$@" "${definitions[@]}"
    [[ $command == demo ]] || rm -f "$tree/demo-limits"
}

# build <Ninja target…>
build() {
    say "building, $jobs at once"
    logged build ninja -C "$tree" -j "$jobs" "$@"
    say "built"
}

# run_tests: those of $tree, without those for nights unless all are wanted. How many passed, failed and were skipped is told once more
# at the end.
run_tests() {
    say "testing"
    local failed=0 without=(--label-exclude nightly)
    [[ -z $all ]] || without=()
    # The limit of each test is against hangs alone: four hours. One more at once than what computes, since some tests wait.
    ctest --test-dir "$tree" "${without[@]}" --output-on-failure --no-label-summary -j "$((jobs + 1))" --timeout "${GYRE_TEST_TIMEOUT:-14400}" \
        --output-junit "$tree/tests.xml" || failed=$?
    python cmake/steps/summary.py "$tree/tests.xml"
    ((failed == 0)) || exit "$failed"
}

# left_out: what `cmake/go test` does not run here, with the command that does, and the packages that it needs.
left_out() {
    local missing line
    printf '\nleft out here:\n'
    line='  %-58s %-36s %s\n'
    # shellcheck disable=SC2059 # the format is above
    {
        printf "$line" "what:" "command:" "packages:"
        printf "$line" "kernels with assertions at every type, size and target" "cmake/go test -DGYRE_CHECKED=all" ""
        printf "$line" "studies of the tuner, new-generator, boards, projects for ARM" "cmake/go test --all" ""
        missing=() && needs_of_arm
        printf "$line" "every test on 64-bit and 32-bit ARM, emulated" "cmake/go arm" "${missing[*]:-there}"
        missing=() && needs_of_bare
        ((${#missing[@]} == 0)) || printf "$line" "gyre_embedded on emulated boards" "cmake/go bare" "${missing[*]}"
        grep -q '^GYRE_CUDA_COMPILER:.*=/' "$tree/CMakeCache.txt" ||
            printf "$line" "CUDA kernels, emulated" "cmake/go test" "an nvcc of CUDA 13"
        printf "$line" "all of this but what has no compiler" "cmake/go test --all" ""
    }
}
