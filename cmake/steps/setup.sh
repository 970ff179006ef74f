# shellcheck shell=bash disable=SC2154,SC2034
# System packages and the Python environment. Sourced by cmake/go.

# Halide's package is made for CPython 3.10 to 3.13; with a later one its C++ files are taken alone (see python_packages).
usable_python() {
    local check='import sys
version = sys.version_info[:2]
sys.exit(sys.implementation.name != "cpython" or not (3, 10) <= version < (3, int(sys.argv[1])))'
    local below candidate
    for below in 14 99; do
        for candidate in ${GYRE_PYTHON:-python3 python3.13 python3.12 python3.11 python3.10}; do
            if "$candidate" -c "$check" "$below" 2>/dev/null; then
                python=$candidate
                return
            fi
        done
    done
    return 1
}

find_python() {
    usable_python && return
    if [[ -z ${GYRE_PYTHON:-} ]] && ! command -v python3 >/dev/null; then
        install_packages python3 python3-venv
        usable_python && return
    fi
    local named=${GYRE_PYTHON:-python3} version="not there"
    ! command -v "$named" >/dev/null || version=$("$named" -V 2>&1 | head -n 1 || true)
    fail "no usable Python: $named is $version, expected CPython 3.10 or later.
    Install one (apt-get install python3) or name it: GYRE_PYTHON=/path/to/python3 cmake/go …"
}

has_llc() { command -v llc-21 || command -v llc-22 || command -v llc-23; }
has_header() { printf '#include <%s>\n' "$1" | "${CXX:-g++}" -std=c++17 -E -x c++ -; }

clang_version() { clang++ -dumpversion 2>/dev/null | grep -o '^[0-9]*' || echo 14; }
has_libfuzzer() {
    local program
    program=$(mktemp)
    printf 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long) { return 0; }\n' |
        clang++ -fsanitize=fuzzer,address,undefined -x c++ - -o "$program"
    local status=$?
    rm -f "$program"
    return $status
}

# need <package> <probe…>: the package is missing if the probe fails.
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

needs_of_arm() {
    need g++-aarch64-linux-gnu command -v aarch64-linux-gnu-g++
    need g++-arm-linux-gnueabihf command -v arm-linux-gnueabihf-g++
    need qemu-user command -v qemu-aarch64
}
needs_of_bare() {
    need gcc-aarch64-linux-gnu command -v aarch64-linux-gnu-gcc
    need gcc-arm-none-eabi command -v arm-none-eabi-gcc
    need qemu-system-arm command -v qemu-system-arm
    need gcc-riscv64-unknown-elf command -v riscv64-unknown-elf-gcc
    need qemu-system-misc command -v qemu-system-riscv64
    need llvm-22 has_llc
    need clang command -v clang
    need lld command -v ld.lld
    need make command -v make
}

# system_packages <command>: sees to it that what the command needs beside Python packages is there.
system_packages() {
    local missing=() venv_package=python3-venv
    [[ $python == python3 ]] || venv_package=$(basename "$python")-venv
    need g++ command -v "${CXX:-g++}"
    need binutils command -v objcopy
    need "$venv_package" "$python" -c 'import ensurepip, venv'
    need libcli11-dev has_header CLI/CLI.hpp
    need nlohmann-json3-dev has_header nlohmann/json.hpp
    [[ $1 == demo || $1 == kernel || $1 == compare ]] || need libopenblas-dev has_header cblas.h
    case $1 in
    arm) needs_of_arm ;;&
    wheel) [[ -z $aarch64 ]] || need g++-aarch64-linux-gnu command -v aarch64-linux-gnu-g++ ;;&
    bare) needs_of_bare ;;&
    doc) need doxygen command -v doxygen ;;&
    fuzz)
        need clang command -v clang++
        need llvm command -v llvm-cov
        need "libclang-rt-$(clang_version)-dev" has_libfuzzer
        ;;&
    test | install) need pkg-config command -v pkg-config ;;&
    test | lint | arm | fuzz) need doctest-dev has_header doctest/doctest.h ;;&
    bench | experiment | lint) need libbenchmark-dev has_header benchmark/benchmark.h ;;
    esac
    ((!${#missing[@]})) || install_packages "${missing[@]}"
}

# install_packages <Debian's names…>
install_packages() {
    command -v apt-get >/dev/null || fail "missing, by Debian's names: $*; and there is no apt-get to install them"
    local as_root=()
    if ((EUID != 0)); then
        sudo -n true 2>/dev/null || fail "missing system packages. Install them, then try again:
    sudo apt-get update && sudo apt-get install $*"
        as_root=(sudo -n)
    fi
    say "installing system packages: $*"
    local install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
    local hint="without network: install by other means, then try again: $*"
    [[ " $* " != *" llvm-22 "* ]] || hint+="
    llvm-22 is in Debian 12's security archive: deb http://deb.debian.org/debian-security bookworm-security main; for other systems in apt.llvm.org"
    # A fresh machine has no package lists, an old one outdated lists: both show as a first failure.
    if ! "${install[@]}" install -y --no-install-recommends "$@" &>/dev/null </dev/null; then
        logged apt-update "${install[@]}" update
        logged apt-install "${install[@]}" install -y --no-install-recommends "$@"
    fi
}

pip_install() {
    local hint="without network: on a machine that has it, with this Python, fill a folder: python3 -m pip download -d wheels ${words[*]}
    then here: PIP_NO_INDEX=1 PIP_FIND_LINKS=/path/to/wheels cmake/go $command"
    logged pip "$venv/bin/python" -m pip install --disable-pip-version-check --progress-bar off "$@"
}

# python_packages <requirements file…>: the Python environment, with these files' packages, whose hashes are checked, by one call
# of pip. A stamp a file tells whether that has been done already, here and for this Python. Later Pythons than 3.13 take the
# packages that are named in requirements*.in, without hashes.
python_packages() {
    local file halide interpreter hashes=(--require-hashes) new=() words=()
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 14))'; then
        hashes=()
        set -- "${@/%.txt/.in}"
    fi
    interpreter=$("$python" -c 'import sys; print(sys.version, sys.base_prefix)')
    if [[ $(cat "$venv/made-from" 2>/dev/null) != "$venv $interpreter" ]]; then
        say "making $venv with $("$python" -V)"
        rm -rf "$venv"
        logged venv "$python" -m venv "$venv"
        printf '%s %s\n' "$venv" "$interpreter" >"$venv/made-from"
    fi
    for file in "$@"; do
        cmp -s "$file" "$venv/installed-$(basename "$file")" && continue
        new+=("$file")
        words+=(-r "$file")
    done
    if ((${#new[@]})); then
        say "installing Python packages of ${new[*]}"
        pip_install "${hashes[@]}" "${words[@]}"
        halide=$(grep -h -o '^halide==[0-9.]*' "${new[@]}" || true)
        if [[ -n $halide && $'\n'$("$venv/bin/python" -m pip freeze)$'\n' != *$'\n'"$halide"$'\n'* ]]; then
            # No package for this Python: Python 3.13's has the same C++ files.
            pip_install --no-deps --only-binary=:all: --implementation cp --python-version 3.13 --abi cp313 --upgrade \
                --target "$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" "$halide"
        fi
        for file in "${new[@]}"; do cp "$file" "$venv/installed-$(basename "$file")"; done
    fi
    export VIRTUAL_ENV=$venv PATH=$venv/bin:$PATH
}

# prepare <requirements file…>: what the command needs.
prepare() {
    [[ $(uname -sm) == "Linux x86_64" ]] ||
        fail "Halide's Python package has C++ files for Linux on x86_64, this is $(uname -sm): build with cmake and your own Halide"
    find_python
    take_lock
    system_packages "$command"
    python_packages "$@"
}
