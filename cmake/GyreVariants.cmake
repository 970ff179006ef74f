# Which kernels a list of wishes comes to.

# What FEATURES may name, and which kernels it takes.
set(GYRE_ROTARY_FEATURES half interleaved)
set(GYRE_PLAIN_FEATURES causal window gqa packed lse rope roper) # in every attention kernel
set(GYRE_DECODE_FEATURES decode)                                 # kernels for few queries, whose keys are split over threads
set(GYRE_GENERAL_FEATURES bias mask softcap alibi sinks)         # in the general family alone
set(GYRE_DROPOUT_FEATURES dropout)                               # kernels for it, which do what the general family does

set(GYRE_OPERATIONS rotary attention backward linear)
set(GYRE_DTYPES f32 f16 bf16)
set(gyre_halide_type_f32 float32)
set(gyre_halide_type_f16 float16)
set(gyre_halide_type_bf16 bfloat16)
set(gyre_largest_head_dim 512)
set(gyre_head_dim_multiple 16) # other sizes run in kernels padded to the next multiple

# gyre_add_variants(<library> OPS … DTYPES … HEAD_DIMS … PADDED_HEAD_DIMS … [DECODE_HEAD_DIMS …] [DROPOUT_HEAD_DIMS …] FEATURES …
#                   SCORE <files>):
# every kernel that these come to, and the one that forms angles. Head sizes of models are kernels of their own (d64); any
# other runs in the next larger padded one (dmax128). DECODE_HEAD_DIMS: those of HEAD_DIMS that are to have decode kernels of
# their own, DROPOUT_HEAD_DIMS kernels with dropout; all if it is left out. Without FEATURES: all of them.
function(gyre_add_variants library)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OPS;DTYPES;HEAD_DIMS;PADDED_HEAD_DIMS;DECODE_HEAD_DIMS;DROPOUT_HEAD_DIMS;FEATURES;SCORE")
    foreach (sizes IN ITEMS DECODE_HEAD_DIMS DROPOUT_HEAD_DIMS)
        if (NOT arg_${sizes})
            set(arg_${sizes} ${arg_HEAD_DIMS})
        endif ()
    endforeach ()
    set(families plain general dropout)
    set(decode TRUE)
    set(pairings half interleaved)
    if (arg_FEATURES)
        set(families plain)
        set(decode FALSE)
        set(pairings "")
        foreach (feature IN LISTS arg_FEATURES)
            if (feature IN_LIST GYRE_GENERAL_FEATURES)
                list(REMOVE_ITEM families plain)
                list(APPEND families general) # it computes what the plain family computes, too
            elseif (feature IN_LIST GYRE_DROPOUT_FEATURES)
                list(APPEND families dropout)
            elseif (feature IN_LIST GYRE_DECODE_FEATURES)
                set(decode TRUE)
            elseif (feature IN_LIST GYRE_ROTARY_FEATURES)
                list(APPEND pairings ${feature})
            endif ()
        endforeach ()
        list(REMOVE_DUPLICATES families)
        if (NOT pairings)
            set(pairings half interleaved)
        endif ()
    endif ()

    get_property(has_angles GLOBAL PROPERTY GYRE_${library}_HAS_ANGLES)
    if (NOT has_angles)
        gyre_add_kernel("${library}" angles VARIANT f32)
        set_property(GLOBAL PROPERTY GYRE_${library}_HAS_ANGLES TRUE)
    endif ()
    if (rotary IN_LIST arg_OPS OR backward IN_LIST arg_OPS OR linear IN_LIST arg_OPS) # which load and store heads by its kernels
        foreach (pairing IN LISTS pairings)
            foreach (dtype IN LISTS arg_DTYPES)
                set(type dtype=${gyre_halide_type_${dtype}})
                gyre_add_kernel("${library}" rotary VARIANT ${dtype}_${pairing}
                                PARAMS from_dtype=${gyre_halide_type_${dtype}} ${type} pairing=${pairing})
                set(needs avx2)
                if (dtype STREQUAL f16) # before, half a vector is converted and stored by one instruction
                    set(needs avx512f)
                endif ()
                gyre_add_kernel("${library}" rotary VARIANT streamed_${dtype}_${pairing} NEEDS ${needs} STAND_INS streaming_stores
                                PARAMS from_dtype=${gyre_halide_type_${dtype}} ${type} pairing=${pairing} streamed=true)
                if (NOT dtype STREQUAL f32) # for caches of a smaller type than what is computed
                    gyre_add_kernel("${library}" rotary VARIANT f32_${dtype}_${pairing}
                                    PARAMS from_dtype=${gyre_halide_type_f32} ${type} pairing=${pairing})
                endif ()
                set(from_dtypes ${dtype} f32)
                list(REMOVE_DUPLICATES from_dtypes)
                foreach (from IN LISTS from_dtypes) # into caches, at slots that the device finds
                    gyre_add_kernel("${library}" rotary VARIANT append_${from}_${dtype}_${pairing} NEEDS cuda
                                    PARAMS from_dtype=${gyre_halide_type_${from}} ${type} pairing=${pairing} appended=true)
                endforeach ()
            endforeach ()
        endforeach ()
    endif ()
    if (backward IN_LIST arg_OPS)
        gyre_add_backward_variants("${library}" "${arg_DTYPES}" "${pairings}")
    endif ()
    if (linear IN_LIST arg_OPS)
        gyre_add_linear_variants("${library}" "${arg_DTYPES}" "${pairings}")
    endif ()
    if (attention IN_LIST arg_OPS)
        gyre_list_sizes("${arg_HEAD_DIMS}" "${arg_PADDED_HEAD_DIMS}" sizes)
        gyre_list_sizes("${arg_DECODE_HEAD_DIMS}" "${arg_PADDED_HEAD_DIMS}" decode_sizes)
        gyre_list_sizes("${arg_DROPOUT_HEAD_DIMS}" "${arg_PADDED_HEAD_DIMS}" dropout_sizes)
        foreach (dtype IN LISTS arg_DTYPES)
            set(type dtype=${gyre_halide_type_${dtype}})
            set(plain general=false as_stored=false)
            set(general general=true as_stored=false)
            foreach (size_and_params IN LISTS sizes)
                string(REPLACE "|" ";" params "${size_and_params}")
                list(POP_FRONT params size)
                if (arg_SCORE)
                    foreach (file IN LISTS arg_SCORE)
                        get_filename_component(score "${file}" NAME_WE)
                        gyre_add_kernel("${library}" attention VARIANT score_${score}_${dtype}_${size} SCORE "${file}"
                                        PARAMS ${type} ${general} score=${score} ${params})
                    endforeach ()
                else ()
                    if (dropout IN_LIST families AND size_and_params IN_LIST dropout_sizes)
                        gyre_add_kernel("${library}" attention VARIANT dropout_${dtype}_${size} KNOBS_OF general_${dtype}_${size}
                                        PARAMS ${type} ${general} dropout=true ${params})
                    endif ()
                    foreach (family IN ITEMS plain general)
                        if (NOT family IN_LIST families)
                            continue()
                        endif ()
                        gyre_add_kernel("${library}" attention VARIANT ${family}_${dtype}_${size}
                                        PARAMS ${type} ${${family}} ${params})
                        if ("${family}" STREQUAL "general")
                            gyre_add_kernel("${library}" attention VARIANT general_as_stored_${dtype}_${size} NEEDS cuda
                                            PARAMS ${type} general=true as_stored=true ${params})
                        endif ()
                        if ("${family}" STREQUAL "plain")
                            gyre_add_formed_variant("${library}" ${dtype} "${size}" "${params}")
                            # the CPU's kernels copy in any case
                            gyre_add_kernel("${library}" attention VARIANT plain_as_stored_${dtype}_${size} NEEDS cuda
                                            PARAMS ${type} general=false as_stored=true ${params})
                            gyre_add_kernel("${library}" attention VARIANT paged_${dtype}_${size} NEEDS cuda
                                            PARAMS ${type} general=false as_stored=true paged=true ${params})
                        endif ()
                    endforeach ()
                endif ()
            endforeach ()
            if (decode AND NOT arg_SCORE)
                gyre_add_decode_variants("${library}" ${dtype} "${decode_sizes}")
            endif ()
        endforeach ()
    endif ()
endfunction()

# gyre_add_backward_variants(<library> <dtypes> <pairings>): gradients of attention, computed in f32 whatever the tensors'
# type: blocks of rows and keys, what they take, and the conversions of other types.
function(gyre_add_backward_variants library dtypes pairings)
    gyre_add_loading_variants("${library}" "${dtypes}" "${pairings}")
    gyre_add_kernel("${library}" delta VARIANT f32)
    gyre_add_kernel("${library}" backward VARIANT plain_f32 PARAMS capped=false)
    gyre_add_kernel("${library}" backward VARIANT capped_f32 PARAMS capped=true)
    gyre_add_kernel("${library}" backward VARIANT general_f32 KNOBS_OF plain_f32 PARAMS general=true)
endfunction()

# gyre_add_linear_variants(<library> <dtypes> <pairings>): linear attention and its gradients, computed in f32 whatever the
# tensors' type: chunks of rows and the state between them, and what is formed of each row.
function(gyre_add_linear_variants library dtypes pairings)
    gyre_add_loading_variants("${library}" "${dtypes}" "${pairings}")
    if (NOT f32 IN_LIST dtypes) # features are rotated in f32
        foreach (pairing IN LISTS pairings)
            gyre_add_kernel("${library}" rotary VARIANT f32_${pairing} PARAMS from_dtype=${gyre_halide_type_f32}
                            dtype=${gyre_halide_type_f32} pairing=${pairing})
        endforeach ()
    endif ()
    gyre_add_kernel("${library}" linear VARIANT f32)
    gyre_add_kernel("${library}" outer VARIANT f32)
    gyre_add_kernel("${library}" sums VARIANT f32)
    set(dtypes_and_f32 f32 ${dtypes})
    list(REMOVE_DUPLICATES dtypes_and_f32)
    foreach (dtype IN LISTS dtypes_and_f32)
        gyre_add_kernel("${library}" norms VARIANT ${dtype} PARAMS dtype=${gyre_halide_type_${dtype}})
    endforeach ()
    foreach (dtype IN LISTS dtypes)
        gyre_add_kernel("${library}" features VARIANT ${dtype} PARAMS dtype=${gyre_halide_type_${dtype}})
        gyre_add_kernel("${library}" slopes VARIANT ${dtype} PARAMS dtype=${gyre_halide_type_${dtype}})
    endforeach ()
endfunction()

# gyre_add_loading_variants(<library> <dtypes> <pairings>): what takes rows of these types as f32, and as panels; once.
function(gyre_add_loading_variants library dtypes pairings)
    get_property(loads GLOBAL PROPERTY GYRE_${library}_LOADS)
    if (loads)
        return()
    endif ()
    set_property(GLOBAL PROPERTY GYRE_${library}_LOADS TRUE)
    gyre_add_kernel("${library}" panels VARIANT f32)
    list(REMOVE_ITEM dtypes f32)
    foreach (dtype IN LISTS dtypes)
        foreach (pairing IN LISTS pairings)
            gyre_add_kernel("${library}" rotary VARIANT ${dtype}_f32_${pairing}
                            PARAMS from_dtype=${gyre_halide_type_${dtype}} dtype=${gyre_halide_type_f32} pairing=${pairing})
        endforeach ()
    endforeach ()
endfunction()

# gyre_add_formed_variant(<library> <dtype> <size> <params>): plain attention on keys and values that are formed once for all tasks, and
# what forms them; for head sizes that are whole matrix tiles.
function(gyre_add_formed_variant library dtype size params)
    if (NOT dtype STREQUAL bf16 OR NOT size MATCHES "^d([0-9]+)$")
        return()
    endif ()
    math(EXPR beside_tiles "${CMAKE_MATCH_1} % 32")
    if (beside_tiles)
        return()
    endif ()
    set(type dtype=${gyre_halide_type_bf16})
    gyre_add_kernel("${library}" operands VARIANT bf16_${size} NEEDS amx_bf16 PARAMS ${type} head_dim=${CMAKE_MATCH_1})
    gyre_add_kernel("${library}" attention VARIANT plain_formed_bf16_${size} NEEDS amx_bf16 KNOBS_OF plain_bf16_${size}
                    PARAMS ${type} general=false as_stored=false formed=true ${params})
endfunction()

# gyre_add_decode_variants(<library> <dtype> <sizes>): attention over a part of the keys, and the merging of such parts, which
# come in f32, or from callers as attention writes them.
function(gyre_add_decode_variants library dtype sizes)
    set(type dtype=${gyre_halide_type_${dtype}} general=false)
    foreach (size_and_params IN LISTS sizes)
        string(REPLACE "|" ";" params "${size_and_params}")
        list(POP_FRONT params size)
        gyre_add_kernel("${library}" attention VARIANT split_${dtype}_${size} PARAMS ${type} partial=true as_stored=false ${params})
        if (NOT size MATCHES dmax) # the CPU's kernels convert or pad others on their way, and so copy them
            set(needs "")
            if (NOT dtype STREQUAL f32)
                set(needs NEEDS cuda)
            endif ()
            gyre_add_kernel("${library}" attention VARIANT split_as_stored_${dtype}_${size} ${needs}
                            PARAMS ${type} partial=true as_stored=true ${params})
        endif ()
        set(beside_tiles 1)
        if (dtype STREQUAL bf16 AND size MATCHES "^d([0-9]+)$")
            math(EXPR beside_tiles "${CMAKE_MATCH_1} % 32")
        endif ()
        if (NOT beside_tiles) # caches that matrix tiles are loaded from
            gyre_add_kernel("${library}" attention VARIANT split_value_blocks_bf16_${size} NEEDS amx_bf16
                            KNOBS_OF split_bf16_${size} PARAMS ${type} partial=true value_blocks=true ${params})
            gyre_add_kernel("${library}" attention VARIANT plain_value_blocks_bf16_${size} NEEDS amx_bf16
                            KNOBS_OF plain_bf16_${size} PARAMS ${type} value_blocks=true ${params})
        endif ()
    endforeach ()
    set(part_dtypes f32 ${dtype})
    list(REMOVE_DUPLICATES part_dtypes)
    foreach (part IN LISTS part_dtypes)
        gyre_add_kernel("${library}" merge VARIANT ${part}_${dtype} PARAMS part_dtype=${gyre_halide_type_${part}} dtype=${gyre_halide_type_${dtype}})
    endforeach ()
endfunction()

# gyre_list_sizes(<exact sizes> <padded sizes> <sizes>): each head size as "name|parameters of the generator".
function(gyre_list_sizes exact padded sizes_out)
    set(sizes "")
    foreach (size IN LISTS exact)
        math(EXPR rest "${size} % ${gyre_head_dim_multiple}")
        if (rest)
            math(EXPR size "${size} + ${gyre_head_dim_multiple} - ${rest}")
            list(APPEND padded ${size})
        else ()
            list(APPEND sizes "d${size}|head_dim=${size}|padded=false")
        endif ()
    endforeach ()
    foreach (size IN LISTS padded)
        list(APPEND sizes "dmax${size}|head_dim=${size}|padded=true")
    endforeach ()
    list(REMOVE_DUPLICATES sizes)
    set(${sizes_out} "${sizes}" PARENT_SCOPE)
endfunction()

# gyre_takes_size(<padded sizes> <size> <out>): whether one of the padded kernels takes heads of this size.
function(gyre_takes_size padded size out)
    set(${out} FALSE PARENT_SCOPE)
    foreach (largest IN LISTS padded)
        if (largest GREATER_EQUAL size)
            set(${out} TRUE PARENT_SCOPE)
        endif ()
    endforeach ()
endfunction()
