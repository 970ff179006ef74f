# generators/families.json: every family of kernels, once. From it come the kernels that are made (GyreVariants.cmake), for which
# targets, and the table by which the runtime and `gyre info` tell which family takes a call.
#
#   operation   whose generator makes it
#   variant     the name of its kernels, with {dtype}, {size}, {pairing}, {score} and {from}, which is f32 and the type itself
#   machines    the types of its kernels on each kind of machine. cpu: every target of GyreTargets.cmake without MACHINE; a
#               feature: those of them that have it; a target: it alone; another word: the targets that have it as MACHINE
#   parameters  of the generator; those that are true, and the format of the cache, are what dispatch knows the family by
#   for         the words of OPS that take it; default: its operation
#   for_devices further ones that take it for devices alone
#   feature     plain, general, dropout, decode or score: which FEATURES take it; default: all
#   sizes       of heads: head_dims or decode, the sizes of that list and of padded kernels; `own` after it: without padded ones;
#               `padded`: in the library gyre without those of its own that a padded one takes; `largest`: of padded ones the largest
#               alone; `largest_of_matrices`: that, on targets with MATRICES; `tiles`: of these those that are whole matrix tiles, without padded ones; numbers: of these
#               those alone, without padded ones. Devices have every size of
#               head_dims that they take
#   units       {a kind of machine: a number}: there it has those of `sizes` alone that are two or more times so many features
#   wide        {a kind of machine: types}: there these types have the sizes of the list `wide`, too
#   padded      {a kind of machine: types}: there these types have the largest size of padded kernels, too
#   knobs_of    the variant whose knobs it has
#   stand_ins   as STAND_INS of GyreTargets.cmake
#   calls       which calls it takes, for those who read `gyre info`
#   support     how the row of include/gyre/README.md's table begins that it is part of; a test compares
#   on_demand   true: the library gyre has no kernels of it, gyre_add_kernels() makes them
#   part        true: calls run it beside the kernel that they name
#
# head_dims has the defaults of the options GYRE_HEAD_DIMS and so on, of GYRE_CUDA_HEAD_DIMS, too.

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${GYRE_GENERATORS_DIR}/families.json")
file(READ "${GYRE_GENERATORS_DIR}/families.json" gyre_families)
set(gyre_tile_depth 32) # tile_depth of generators/passes/instructions/tile_products.h
set(gyre_wide_sizes d256) # of the list `wide`, as gyre_list_sizes() gives them

# gyre_family_field(<row> <field> <default> <out>)
function(gyre_family_field row field default out)
    string(JSON value ERROR_VARIABLE missing GET "${row}" ${field})
    if (missing)
        set(value "${default}")
    endif ()
    set(${out} "${value}" PARENT_SCOPE)
endfunction()

# gyre_head_dims(<list> <out>): of families.json.
function(gyre_head_dims list out)
    string(JSON sizes GET "${gyre_families}" head_dims ${list})
    string(REGEX MATCHALL "[0-9]+" sizes "${sizes}")
    set(${out} ${sizes} PARENT_SCOPE)
endfunction()

# gyre_read_families(): sets GYRE_FAMILIES, the numbers of the rows, and their fields, GYRE_FAMILY_<number>_<FIELD>.
function(gyre_read_families)
    string(JSON count LENGTH "${gyre_families}" families)
    math(EXPR last "${count} - 1")
    set(numbers "")
    foreach (number RANGE ${last})
        string(JSON row GET "${gyre_families}" families ${number})
        list(APPEND numbers ${number})
        string(JSON operation GET "${row}" operation)
        set(GYRE_FAMILY_${number}_OPERATION "${operation}" PARENT_SCOPE)
        foreach (field IN ITEMS variant feature knobs_of stand_ins calls part on_demand)
            gyre_family_field("${row}" ${field} "" value)
            string(TOUPPER ${field} upper)
            set(GYRE_FAMILY_${number}_${upper} "${value}" PARENT_SCOPE)
        endforeach ()
        gyre_family_field("${row}" for "${operation}" for)
        gyre_family_field("${row}" for_devices "" for_devices)
        gyre_family_field("${row}" sizes "" sizes)
        gyre_family_field("${row}" parameters "" parameters)
        foreach (field IN ITEMS for for_devices sizes parameters)
            separate_arguments(words UNIX_COMMAND "${${field}}")
            string(TOUPPER ${field} upper)
            set(GYRE_FAMILY_${number}_${upper} "${words}" PARENT_SCOPE)
        endforeach ()
        string(JSON machines GET "${row}" machines)
        string(JSON kinds LENGTH "${machines}")
        math(EXPR last_kind "${kinds} - 1")
        set(names "")
        foreach (kind RANGE ${last_kind})
            string(JSON machine MEMBER "${machines}" ${kind})
            string(JSON types GET "${machines}" ${machine})
            separate_arguments(types UNIX_COMMAND "${types}")
            list(APPEND names ${machine})
            set(GYRE_FAMILY_${number}_TYPES_${machine} "${types}" PARENT_SCOPE)
            string(JSON unit ERROR_VARIABLE none GET "${row}" units ${machine})
            if (none)
                set(unit "")
            endif ()
            set(GYRE_FAMILY_${number}_UNIT_${machine} "${unit}" PARENT_SCOPE)
        endforeach ()
        set(GYRE_FAMILY_${number}_MACHINES "${names}" PARENT_SCOPE)
        foreach (more IN ITEMS wide padded)
            string(JSON machines ERROR_VARIABLE none GET "${row}" ${more})
            set(names "")
            if (NOT none)
                gyre_json_members("${machines}" names)
            endif ()
            string(TOUPPER ${more} upper)
            set(GYRE_FAMILY_${number}_${upper} "${names}" PARENT_SCOPE)
            foreach (machine IN LISTS names)
                string(JSON types GET "${machines}" ${machine})
                separate_arguments(types UNIX_COMMAND "${types}")
                set(GYRE_FAMILY_${number}_${upper}_TYPES_${machine} "${types}" PARENT_SCOPE)
            endforeach ()
        endforeach ()
    endforeach ()
    set(GYRE_FAMILIES "${numbers}" PARENT_SCOPE)
endfunction()
gyre_read_families()

# gyre_largest_on_device(<operation> <type> <out>): the largest head size whose rows the registers of a device hold: in f32 half of
# the others'. Gradients hold two rows, and a third that is added up.
set(gyre_largest_device_head_dim 256)
set(gyre_largest_device_head_dim_backward 128)
function(gyre_largest_on_device operation type out)
    set(largest ${gyre_largest_device_head_dim})
    if (DEFINED gyre_largest_device_head_dim_${operation})
        set(largest ${gyre_largest_device_head_dim_${operation}})
    endif ()
    if (type STREQUAL "f32")
        math(EXPR largest "${largest} / 2")
    endif ()
    set(${out} ${largest} PARENT_SCOPE)
endfunction()

# gyre_device_takes_size(<operation> <size> <type> <out>): devices have no padded kernels, and, if gyre_device_head_dims is set, kernels
# of these sizes.
function(gyre_device_takes_size operation size type out)
    string(REGEX MATCH "^d([0-9]+)$" exact "${size}")
    set(${out} TRUE PARENT_SCOPE)
    set(of_size ${CMAKE_MATCH_1})
    gyre_largest_on_device(${operation} "${type}" largest)
    if (NOT exact OR of_size GREATER largest)
        set(${out} FALSE PARENT_SCOPE)
    elseif (gyre_device_head_dims AND NOT of_size IN_LIST gyre_device_head_dims)
        set(${out} FALSE PARENT_SCOPE)
    endif ()
endfunction()

# gyre_target_takes_size(<target> <operation> <size> <type> <out>): whether it is to have kernels of this size. gyre_sizes_of_matrices,
# gyre_sizes_of_few and gyre_sizes_of_vectors are the sizes for targets with MATRICES, with FEW and for others; every size where they
# are not set. gyre_sizes_of_hosts are those of the family that is asked for, where devices have more, and gyre_only_size_of_matrices is the
# one that it has on targets with MATRICES, "" where it has several.
function(gyre_target_takes_size target operation size type out)
    set(takes TRUE)
    set(kind vectors)
    if (GYRE_TARGET_${target}_MATRICES)
        set(kind matrices)
    elseif (GYRE_TARGET_${target}_FEW AND gyre_sizes_of_few)
        set(kind few)
    endif ()
    if (GYRE_TARGET_${target}_DEVICE)
        gyre_device_takes_size(${operation} "${size}" "${type}" takes)
        string(REGEX REPLACE "^d" "" own "${size}")
        if (GYRE_TARGET_${target}_HEAD_DIMS AND NOT own IN_LIST GYRE_TARGET_${target}_HEAD_DIMS)
            set(takes FALSE)
        endif ()
    elseif (DEFINED gyre_sizes_of_hosts AND NOT size IN_LIST gyre_sizes_of_hosts)
        set(takes FALSE)
    elseif (gyre_sizes_of_${kind} AND NOT size IN_LIST gyre_sizes_of_${kind})
        set(takes FALSE)
    elseif (kind STREQUAL "matrices" AND gyre_sizes_of_vectors AND size MATCHES "^dmax" AND NOT GYRE_TARGET_${target}_WHOLE AND
            NOT size IN_LIST gyre_sizes_of_vectors)
        set(takes FALSE)
    elseif (kind STREQUAL "matrices" AND gyre_only_size_of_matrices AND NOT size STREQUAL gyre_only_size_of_matrices)
        set(takes FALSE)
    endif ()
    set(${out} ${takes} PARENT_SCOPE)
endfunction()

# gyre_target_is(<target> <kind of machine> <out>)
function(gyre_target_is target machine out)
    set(${out} FALSE PARENT_SCOPE)
    if (machine STREQUAL target)
        set(${out} TRUE PARENT_SCOPE)
    elseif (GYRE_TARGET_${target}_MACHINE)
        if (machine STREQUAL GYRE_TARGET_${target}_MACHINE)
            set(${out} TRUE PARENT_SCOPE)
        endif ()
    elseif (machine STREQUAL "cpu" OR machine IN_LIST GYRE_TARGET_${target}_FEATURES)
        set(${out} TRUE PARENT_SCOPE)
    endif ()
endfunction()

# gyre_target_has(<target> <family> <type> <head size, or "">  <out>): whether kernels of the family are made for it.
function(gyre_target_has target family type size out)
    set(${out} FALSE PARENT_SCOPE)
    foreach (more IN ITEMS WIDE PADDED)
        string(TOLOWER ${more} lower)
        foreach (machine IN LISTS GYRE_FAMILY_${family}_${more})
            gyre_target_is(${target} ${machine} has_more)
            if (has_more AND size IN_LIST gyre_${lower}_sizes AND type IN_LIST GYRE_FAMILY_${family}_${more}_TYPES_${machine})
                set(${out} TRUE PARENT_SCOPE)
                return()
            endif ()
        endforeach ()
    endforeach ()
    foreach (machine IN LISTS GYRE_FAMILY_${family}_MACHINES)
        if (NOT type IN_LIST GYRE_FAMILY_${family}_TYPES_${machine})
            continue()
        endif ()
        gyre_target_is(${target} ${machine} has)
        if (has AND size)
            gyre_target_takes_size(${target} ${GYRE_FAMILY_${family}_OPERATION} "${size}" "${type}" has)
        endif ()
        set(unit "${GYRE_FAMILY_${family}_UNIT_${machine}}")
        if (has AND unit AND size MATCHES "^d([0-9]+)")
            math(EXPR rest "${CMAKE_MATCH_1} % ${unit}")
            if (rest OR NOT CMAKE_MATCH_1 GREATER unit)
                set(has FALSE)
            endif ()
        endif ()
        if (has)
            set(${out} TRUE PARENT_SCOPE)
            return()
        endif ()
    endforeach ()
endfunction()

# gyre_targets_with(<family> <type> <head size, or ""> <targets> <out>): the targets to make a kernel for so that each of the given
# ones is served that can be.
function(gyre_targets_with family type size targets out)
    set(serving "")
    foreach (target IN LISTS targets)
        set(has FALSE)
        while (target AND NOT has)
            gyre_target_has(${target} ${family} ${type} "${size}" has)
            if (NOT has)
                set(target "${GYRE_TARGET_${target}_REST}")
            endif ()
        endwhile ()
        list(APPEND serving ${target})
    endforeach ()
    list(REMOVE_DUPLICATES serving)
    set(${out} "${serving}" PARENT_SCOPE)
endfunction()

# gyre_write_family_list(<file>): the families that calls are dispatched to, as C++ and in their order: GYRE_FAMILY("how its variants
# begin", "calls", traits); and GYRE_TRAIT(name) of each trait.
function(gyre_write_family_list file)
    string(JSON all GET "${gyre_families}" traits)
    gyre_json_members("${all}" all)
    set(rows "")
    foreach (trait IN LISTS all)
        string(JSON meaning GET "${gyre_families}" traits ${trait})
        string(APPEND rows "GYRE_TRAIT(${trait}) // ${meaning}\n")
    endforeach ()
    foreach (family IN LISTS GYRE_FAMILIES)
        if (NOT GYRE_FAMILY_${family}_CALLS)
            continue()
        endif ()
        set(traits "")
        foreach (parameter IN LISTS GYRE_FAMILY_${family}_PARAMETERS)
            string(REGEX REPLACE "^cache=|=.*$" "" name "${parameter}")
            if (name IN_LIST all AND NOT parameter MATCHES "=false$")
                list(APPEND traits "gyre::trait::${name}")
            endif ()
        endforeach ()
        list(APPEND traits 0u)
        list(JOIN traits " | " traits)
        string(REGEX REPLACE "_{.*" "" begin "${GYRE_FAMILY_${family}_VARIANT}")
        string(APPEND rows "GYRE_FAMILY(\"${begin}\", \"${GYRE_FAMILY_${family}_CALLS}\", ${traits})\n")
    endforeach ()
    file(CONFIGURE OUTPUT "${file}" CONTENT "${rows}" @ONLY)
endfunction()

# gyre_write_part_list(<file>): families whose kernels calls run beside the one that they name, as C++: {"operation", "pattern of their
# variants"}.
function(gyre_write_part_list file)
    set(rows "")
    foreach (family IN LISTS GYRE_FAMILIES)
        if (GYRE_FAMILY_${family}_PART)
            string(REGEX REPLACE "{[a-z]+}" "*" pattern "${GYRE_FAMILY_${family}_VARIANT}")
            string(APPEND rows "{\"${GYRE_FAMILY_${family}_OPERATION}\", \"${pattern}\"},\n")
        endif ()
    endforeach ()
    file(CONFIGURE OUTPUT "${file}" CONTENT "${rows}" @ONLY)
endfunction()
