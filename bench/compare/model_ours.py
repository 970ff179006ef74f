"""A call of model_calls by Gyre: its arguments are formed once, as a program in C does it, so that only the call is timed."""

from ctypes import pointer

import gyre
from gyre import _library
from gyre._attention_args import attention_args
from gyre._call import Call as Arrays
from gyre._prepared_mask import add_prepared_mask
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


def prepare(context, q, k, v, out, options):
    """A function that computes attention of these arrays into out."""
    arrays = Arrays()
    options = {**NOTHING, **options}
    prepared = options.pop("prepared_mask", None)
    args = attention_args(arrays, q, k, v, **options)
    add_prepared_mask(arrays, args, prepared)
    args.out = arrays.tensor(out, "out", write=True)
    where = pointer(args)
    attention = _library.library.gyre_attention

    def run():
        status = attention(context.handle, where)
        if status:
            _library.fail(status)

    run.keeps = arrays, options, out
    return run
