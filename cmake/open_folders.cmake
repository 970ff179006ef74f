# Run by cpack before it packs what was installed for it: folders that were made under a umask such as 077 are for all, as files are.
file(GLOB_RECURSE paths LIST_DIRECTORIES TRUE "${CPACK_TEMPORARY_DIRECTORY}/*")
foreach (path IN LISTS paths)
    if (IS_DIRECTORY "${path}" AND NOT IS_SYMLINK "${path}")
        file(CHMOD "${path}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    endif ()
endforeach ()
