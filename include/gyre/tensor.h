/** @file
 *  Tensors of the caller, and the orders in which they hold queries, keys and values. */
#ifndef GYRE_TENSOR_H
#define GYRE_TENSOR_H

#include "status.h"

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The types of a tensor's elements. */
GYRE_ENUM(gyre_dtype) {
    GYRE_F32 = 0,  /**< IEEE 754 binary32 */
    GYRE_F16 = 1,  /**< IEEE 754 binary16 */
    GYRE_BF16 = 2, /**< the upper half of a binary32 */
    GYRE_F64 = 3,  /**< IEEE 754 binary64 */
    GYRE_I32 = 4,  /**< 32 bits, signed */
    GYRE_I64 = 5,  /**< 64 bits, signed */
    GYRE_BOOL = 6  /**< one byte, 0 or not 0 */
};

/** The devices whose memory holds tensors, by DLPack's codes. */
GYRE_ENUM(gyre_device) {
    GYRE_CPU = 1, /**< the host's memory */
    GYRE_CUDA = 2 /**< a CUDA device's memory */
};

/** The most dimensions that a tensor has. */
#define GYRE_MAX_RANK 4

/** A view of memory that belongs to somebody else. Shapes are outermost first. Strides count elements and may be anything that stays
 *  inside the owner's memory; 0 repeats an element. Where a function says "contiguous", the last stride must be 1. The stride of a
 *  dimension of one element means nothing. A tensor has at most 2^46 elements, repeated ones counted. */
typedef struct gyre_tensor {
    void *data;                     /**< The first element; aligned to an element. NULL where there are none. */
    gyre_dtype dtype;               /**< The type of the elements. */
    gyre_device device;             /**< Whose memory it is. */
    int32_t rank;                   /**< The number of dimensions, 1 to GYRE_MAX_RANK. */
    int64_t shape[GYRE_MAX_RANK];   /**< [rank] extents, each at least 0. */
    int64_t strides[GYRE_MAX_RANK]; /**< [rank] elements from one index of a dimension to the next. */
} gyre_tensor;

/** Views densely packed CPU memory in C order. `shape` has `rank` extents, 1 to GYRE_MAX_RANK of them. */
static inline gyre_tensor gyre_tensor_dense(const void *data, gyre_dtype dtype, int32_t rank, const int64_t *shape) {
    gyre_tensor t;
    uint64_t stride = 1; /* wraps where the tensor is larger than any memory, which functions then refuse */
    int32_t i;
    memset(&t, 0, sizeof t);
    memcpy(&t.data, &data, sizeof data);
    t.dtype = dtype;
    t.device = GYRE_CPU;
    t.rank = rank;
    for (i = rank - 1; i >= 0 && i < GYRE_MAX_RANK; i--) {
        t.shape[i] = shape[i];
        t.strides[i] = (int64_t)stride;
        stride *= (uint64_t)shape[i];
    }
    return t;
}

/** Views a DLPack tensor (rank 1..4, CPU or CUDA, one lane) without copying; missing strides mean C order.
 *    dl_tensor  const DLTensor *, which is not declared here: dlpack.h may be included before or after this header
 *  Errors: BAD_ARGUMENT (null), BAD_SHAPE (rank), BAD_TYPE (element type), UNSUPPORTED (device). */
GYRE_API gyre_status gyre_tensor_from_dlpack(const void *dl_tensor, gyre_tensor *out);

/** The order of the dimensions of q, k, v, x and out. */
GYRE_ENUM(gyre_layout) {
    GYRE_BSHD = 0, /**< [batch, seqlen, heads, head_dim] */
    GYRE_BHSD = 1, /**< [batch, heads, seqlen, head_dim] */
    GYRE_THD = 2   /**< [tokens of all sequences, heads, head_dim] */
};

/** How a cache keeps values. Blocks are for decoding on processors with matrix tiles, which then have nothing to rearrange. Every
 *  GYRE_VALUE_BLOCK tokens of a head are [v_head_dim][GYRE_VALUE_BLOCK] instead of as many rows of v_head_dim:
 *
 *      in rows                              in blocks
 *      v[t=0]   d=0 1 2 … v_head_dim - 1    d=0               t=0 1 2 … 31
 *      v[t=1]   d=0 1 2 …                   d=1               t=0 1 2 … 31
 *      …                                    …
 *      v[t=31]  d=0 1 2 …                   d=v_head_dim - 1  t=0 1 2 … 31
 *
 *  The tensor has the shape and the strides that rows without gaps would have: from token to token v_head_dim. The capacity or the
 *  page size is a multiple of GYRE_VALUE_BLOCK. Slots after the last key may hold anything. Only bf16 has blocks, and only values. */
GYRE_ENUM(gyre_value_order) {
    GYRE_VALUES_IN_ROWS = 0,  /**< a row of v_head_dim for each token */
    GYRE_VALUES_IN_BLOCKS = 1 /**< [v_head_dim][GYRE_VALUE_BLOCK] for every GYRE_VALUE_BLOCK tokens */
};

/** The number of tokens whose values are one block of GYRE_VALUES_IN_BLOCKS. */
#define GYRE_VALUE_BLOCK 32

GYRE_LAYOUT(gyre_tensor, strides, 88, 56, 80, 48);

#ifdef __cplusplus
}
#endif
#endif
