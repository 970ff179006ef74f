# Completion of `gyre` in bash: the program itself says what may follow. Files where it says nothing.
_gyre() {
    local words
    words=$("${COMP_WORDS[0]}" complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _gyre gyre
