# shellcheck shell=bash disable=SC2154,SC2034
# What cmake/go says, and where it keeps what its steps print. Sourced by cmake/go.

say() { printf '[%4d s] %s\n' "$SECONDS" "$*"; }
fail() {
    printf 'cmake/go: %s\n' "$*" >&2
    exit 1
}

# logged <name> <command…>: what the command prints goes to $build/log/<name>.log. A terminal shows its latest line, anything
# else a line every 20 seconds. Where the command fails, the variable `hint` says what to do about it.
logged() {
    local log=$build/log/$1.log shown=$SECONDS line
    shift
    mkdir -p "$build/log"
    if ! "$@" 2>&1 </dev/null | while IFS= read -r line; do
        printf '%s\n' "$line" >&3
        if [[ -t 1 ]]; then
            printf '\r\e[K%.*s' "$((${COLUMNS:-80} - 1))" "$line"
        elif ((SECONDS - shown >= 20)); then
            shown=$SECONDS
            say "  $line"
        fi
    done 3>"$log"; then
        # Ninja finishes what it has begun after a failure: what matters is not always at the end.
        printf '\n%s\n' "$(if grep -q '^FAILED' "$log"; then grep -m1 -A25 '^FAILED' "$log"; else tail -n 25 "$log"; fi)" >&2
        fail "failed: $*
    all that it printed: $log${hint:+
    $hint}"
    fi
    if [[ -t 1 ]]; then printf '\r\e[K'; fi
}

# take_lock: this process alone works in $build until it ends.
take_lock() {
    local said
    if ! said=$(mkdir -p "$build" 2>&1 && { : >>"$build/.lock"; } 2>&1); then
        fail "cannot write to $build (${said##*: }). Name a folder to build in:
    GYRE_BUILD=/path/to/folder cmake/go $command"
    fi
    exec 9<>"$build/.lock"
    flock -n 9 || fail "$(<"$build/.lock") is at work in $build. Wait for its end, or build elsewhere:
    GYRE_BUILD=/path/to/folder cmake/go $command"
    printf 'cmake/go %s (process %d, since %s)\n' "$command" $$ "$(date +%T)" >"$build/.lock"
}

# release_lock: for programs that run long after the build, and do not change it.
release_lock() { exec 9>&-; }
