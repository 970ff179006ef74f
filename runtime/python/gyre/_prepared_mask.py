"""Masks that are looked at once for many calls."""

from ctypes import byref, c_size_t
from typing import Any

from . import _library
from ._arrays import as_list, empty
from ._attention_args import window_of
from ._call import Call
from ._structures import DTYPES, AttentionArgs
from ._values import ALIGNMENTS, LAYOUTS, choose, flag


def prepare_mask(mask: Any, q: Any, k: Any, *, causal: bool = False, alignment: str = "bottom_right",
                 window: tuple[int, int] | None = None, seqused_k: Any = None, layout: str = "bshd") -> Any:
    """Looks at a mask once for all calls of attention() that have it, as the layers of a model do.

    mask    bool, its last dimension contiguous; what it broadcasts to, and the rest, as attention() has them
    q, k    arrays of the calls' shapes, [batch, seqlen, heads, head_dim] or as `layout` says: they are not read

    Returns what attention() takes as prepared_mask beside the same mask: 12 bytes for each of the mask's rows, in an array of int64
    of the mask's library. It serves calls with the same batch, numbers of query heads and of tokens, mask, causal, window, alignment
    and seqused_k; all else may differ. Other calls are refused, but for a mask whose elements have changed since, which is not noticed.
    Errors: ValueError, TypeError, NotImplementedError (the mask's last dimension is not contiguous).
    """
    call = Call()
    left, right = window_of(window)
    queries, keys = call.tensor(q, "q"), call.tensor(k, "k")
    args = AttentionArgs(
        layout=choose(layout, "layout", LAYOUTS), q=queries, k=keys, v=keys, out=queries, mask=call.optional(mask, "mask"),
        causal=flag(causal, "causal"), alignment=choose(alignment, "alignment", ALIGNMENTS), window_left=left, window_right=right,
        seqused_k=call.optional(as_list(seqused_k, "seqused_k"), "seqused_k"))
    size = c_size_t()
    _library.check(_library.library.gyre_mask_prepare_size(args, byref(size)))
    prepared = empty(mask, ((size.value + 7) // 8,), "int64")
    _library.check(_library.library.gyre_mask_prepare(None, args, call.view(prepared, "prepared_mask", write=True).data, size))
    return prepared


def add_prepared_mask(call: Call, args: AttentionArgs, prepared_mask: Any) -> None:
    """Errors: TypeError, ValueError."""
    if prepared_mask is None:
        return
    view = call.view(prepared_mask, "prepared_mask")
    if len(view.shape) != 1 or view.strides != (1,) or view.dtype != DTYPES["int64"]:
        raise ValueError(f"prepared_mask: got {prepared_mask.dtype} of shape {view.shape} with strides {view.strides}, "
                         "expected what prepare_mask() returned")
    args.prepared_mask = view.data
    args.prepared_mask_size = 8 * view.shape[0]
