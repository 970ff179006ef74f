# Writes the checksums of files, for cached_command.cmake: what depends on large files can then be told by a small one.
#   cmake -D "FILES=<files>" -D "OUT=<file>" -P file_key.cmake

set(key "")
foreach (file IN LISTS FILES)
    file(SHA256 "${file}" digest)
    string(APPEND key "${digest}\n")
endforeach ()
file(WRITE "${OUT}" "${key}")
