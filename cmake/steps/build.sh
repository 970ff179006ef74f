# shellcheck shell=bash disable=SC2154,SC2034
# Configuring and building. Sourced by cmake/go.

# What the demo runs: the kernels of a fresh folder, until another command asks for all.
demo_limits=("GYRE_TARGETS=host;x86_64_generic" "GYRE_OPS=rotary;attention" "GYRE_FEATURES=half;causal;rope;roper" GYRE_HEAD_DIMS=64
    GYRE_PADDED_HEAD_DIMS= GYRE_MATRIX_HEAD_DIMS= GYRE_MATRIX_PADDED_HEAD_DIMS= GYRE_ATTENTION_DTYPES=f32 GYRE_CUDA=OFF)

# CUDA kernels that the tests emulate, but of which nvcc makes nothing: f16's, which are bf16's but for a word, f32's of two head sizes of
# three, and most of the tests' own libraries.
test_limits=("GYRE_CUDA_WITHOUT_IMAGE=_f16_|_f32_d(64|96)|_device_(size|gradients_(f32|rotary|merge|attention)|scores_rotary)")

# own_limits: what this command leaves out of a fresh folder, one a line.
own_limits() {
    case $command in
    demo) printf '%s\n' "${demo_limits[@]}" ;;
    test) [[ -n $all ]] || printf '%s\n' "${test_limits[@]}" ;;
    esac
}

# to_take_back: the files that say what other commands have left out of $tree and this one needs.
to_take_back() {
    local file
    for file in "$tree"/limits-of-*; do
        case $command${all:+-all}:${file##*-} in
        demo:* | kernel:test | test:test | *:\*) ;;
        *) printf '%s\n' "$file" ;;
        esac
    done
}

# configure <CMake options>. Options are only ever added: what one command has built stays for the others. What stands on the
# command line of cmake/go comes last.
configure() {
    say "configuring"
    local home limit name unset=() taken_back=()
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$tree/CMakeCache.txt" 2>/dev/null || true)
    [[ -z $home || $home == "$root" ]] || fail "$tree was configured for $home; run cmake/go clean first"
    [[ -n $home ]] || set -- -DGYRE_BUILD_TESTS=OFF -DGYRE_BUILD_BENCH=OFF "$@"
    mapfile -t taken_back < <(to_take_back)
    while read -r name; do unset+=("-U${name%%=*}"); done < <(cat /dev/null "${taken_back[@]}")
    if [[ -z $home || -e $tree/limits-of-demo && $command == test ]]; then
        mkdir -p "$tree"
        while read -r limit; do
            [[ " ${definitions[*]}" == *" -D${limit%%=*}"[:=]* ]] && continue
            set -- "$@" "-D$limit"
            printf '%s\n' "$limit" >>"$tree/limits-of-$command"
        done < <(own_limits)
    fi
    logged configure cmake -S . -B "$tree" -G Ninja "-DPython3_EXECUTABLE=$venv/bin/python" "${unset[@]}" "$@" "${definitions[@]}"
    rm -f "${taken_back[@]}"
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
    # The limit of each test is against hangs alone: four hours. Twice as many at once as what computes, since many tests wait.
    ctest --test-dir "$tree" "${without[@]}" --output-on-failure --no-label-summary -j "$((jobs * 2))" --timeout "${GYRE_TEST_TIMEOUT:-14400}" \
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
        ! grep -q '^GYRE_CUDA_WITHOUT_IMAGE:.*=.' "$tree/CMakeCache.txt" ||
            printf "$line" "machine code of CUDA kernels that others stand for" "cmake/go build" "an nvcc of CUDA 13"
        printf "$line" "all of this but what has no compiler" "cmake/go test --all" ""
    }
}
