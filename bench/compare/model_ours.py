"""Calls of attention and of its gradients by Gyre: arguments are formed once, as a program in C does it, so that only the call is timed."""

from ctypes import pointer

import gyre
from gyre import _library
from gyre._attention_args import attention_args
from gyre._call import Call as Arrays
from gyre._prepared_mask import add_prepared_mask
from gyre._structures import AttentionBackwardArgs
from model_options import options_of


def keywords(call, inputs, narrow):
    """What gyre.attention() is given beside q, k and v.

    narrow: makes of float32 numbers an array of the queries' type
    """
    found = {"layout": "bhsd", **options_of(call, inputs)}
    if "bias" in found:
        found["bias"] = narrow(found["bias"])
    if "rope" in found:
        found["rope"] = gyre.Rope(pairing=call.rope.pairing, rotary_dim=call.rope.rotary_dim)
    return found


NOTHING = dict(scale=None, causal=False, alignment="bottom_right", window=None, softcap=0.0, bias=None, mask=None, sinks=None,
               alibi=None, seqused_k=None, cu_seqlens_q=None, cu_seqlens_k=None, block_table=None, rope=None, value_rope=None,
               keys_rotated=False, values_rotated=False, q_positions=None, k_positions=None, score=None, score_inputs=None,
               dropout=0.0, dropout_seed=0, dropout_offset=0, value_order="rows", layout="bhsd")


def caller(context, function, args, *keeps):
    """A function that makes the call of these arguments; it keeps alive what they point to."""
    where = pointer(args)
    call = getattr(_library.library, function)

    def run():
        status = call(context.handle, where)
        if status:
            _library.fail(status)

    run.keeps = args, *keeps
    return run


def prepare(context, q, k, v, out, options, lse=None):
    """A function that computes attention of these arrays into out, and lse if it is given."""
    arrays = Arrays()
    options = {**NOTHING, **options}
    prepared = options.pop("prepared_mask", None)
    args = attention_args(arrays, q, k, v, **options)
    add_prepared_mask(arrays, args, prepared)
    args.out = arrays.tensor(out, "out", write=True)
    args.lse = arrays.optional(lse, "lse", write=True)
    return caller(context, "gyre_attention", args, arrays, options, out)


def prepare_backward(context, forward, out_grad, grads):
    """A function that computes the gradients of what prepare() made, into grads."""
    arrays = Arrays()
    names = "q_grad", "k_grad", "v_grad"
    tensors = {name: arrays.tensor(grad, name, write=True) for name, grad in zip(names, grads)}
    args = AttentionBackwardArgs(forward=pointer(forward.keeps[0]), out_grad=arrays.tensor(out_grad, "out_grad"), **tensors)
    return caller(context, "gyre_attention_backward", args, arrays, forward, grads)
