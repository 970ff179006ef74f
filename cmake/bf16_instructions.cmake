# Replaces, in the assembly of an aarch64 kernel, instructions that stand for those of FEAT_BF16, which Halide 21 does not know:
#   sdot                of vectors of bytes    bfmmla, which multiplies matrices of bf16
#   fcvtn, fcvtn2, fcvt of f32 to f16          bfcvtn, bfcvtn2, bfcvt, which round to bf16
# The operands are the same registers, and no kernel of such a target multiplies integers or takes f16. Anything else that
# has one of these names is an error.
#   cmake -D ASSEMBLY=<file> -P bf16_instructions.cmake

file(READ "${ASSEMBLY}" text)
string(REGEX REPLACE "\tsdot\t(v[0-9]+)\\.4s, (v[0-9]+)\\.16b, (v[0-9]+)\\.16b\n" "\tbfmmla\t\\1.4s, \\2.8h, \\3.8h\n" text "${text}")
string(REGEX REPLACE "\tfcvtn(2?)\t(v[0-9]+\\.[48]h, v[0-9]+\\.4s)\n" "\tbfcvtn\\1\t\\2\n" text "${text}")
string(REGEX REPLACE "\tfcvt\t(h[0-9]+, s[0-9]+)\n" "\tbfcvt\t\\1\n" text "${text}")
# What remains of f16 or of sums of bytes was not meant for bf16.
string(REGEX MATCHALL "\t(sdot|udot|usdot|f[a-z]+)2?\t(v[0-9]+\\.[48]h|h[0-9]+|[^\n]*\\.(8|16|4)b|[sd][0-9]+, h[0-9]+|v[0-9]+\\.4s, v[0-9]+\\.[48]h)[^\n]*"
       left "${text}")
list(FILTER left EXCLUDE REGEX "\tfmov\t")
if (left)
    message(FATAL_ERROR "${ASSEMBLY}: no instruction of FEAT_BF16 is known for:${left}")
endif ()
file(WRITE "${ASSEMBLY}" "\t.arch\tarmv8.2-a+bf16\n${text}")
