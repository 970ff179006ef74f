/** @file
 * Gyre: rotary embeddings (RoPE), reverse-rotary attention (RoPER) and fused attention, from kernels that Halide
 * generated ahead of time. The whole public interface, in C99; each header can be included alone.
 *
 *     float q[1 * 128 * 8 * 64], k[...], v[...], out[...];
 *     const int64_t shape[4] = {1, 128, 8, 64};                         // bshd: [batch, seqlen, heads, head_dim]
 *     gyre_rope rope = gyre_rope_defaults();                            // theta 10000, half pairing, the whole head
 *     gyre_attention_args args = gyre_attention_defaults();
 *     args.q = gyre_tensor_dense(q, GYRE_F32, 4, shape);                // likewise k, v and out
 *     args.causal = 1;
 *     args.rope = &rope;                                                // rotate queries and keys
 *     args.value_rope = &rope;                                          // and values, undone on the output: RoPER
 *     if (gyre_attention(NULL, &args) != GYRE_OK) puts(gyre_last_error());
 *
 * Every function that can fail returns a gyre_status; gyre_last_error() then says which argument was wrong, what it was and
 * what is expected, and gyre_last_error_argument() gives the argument's name. Nothing is written to an output when arguments are refused, or memory is lacking. The library never prints,
 * aborts or throws.
 * Argument structures begin with their size: fill them through the *_defaults() functions and they can grow.
 * Calls compute with rounding to nearest even, subnormals and masked exceptions, on every thread, whatever modes the caller
 * has set; these are as they were when the call returns.
 * A call on the CPU takes at most 32 KiB of stack, on the calling thread and on every thread that works for it.
 * A call is no cancellation point, and puts pthread_cancel() off until it returns. After fork() the child goes on with all
 * contexts, those included that other threads of the parent were calling with. Other threads may call while the process ends.
 */
#ifndef GYRE_GYRE_H
#define GYRE_GYRE_H

#include "attention.h"
#include "attention_backward.h"
#include "attention_merge.h"
#include "cache.h"
#include "context.h"
#include "frequencies.h"
#include "linear_attention.h"
#include "linear_attention_backward.h"
#include "linked.h"
#include "prepared_mask.h"
#include "rotary.h"
#include "status.h"
#include "tensor.h"

#endif
