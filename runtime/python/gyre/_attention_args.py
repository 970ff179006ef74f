"""The arguments that attention and its gradients share."""

from collections.abc import Mapping
from typing import Any

from ._arrays import as_list
from ._call import Call
from ._structures import AttentionArgs, ScoreInput
from ._values import ALIGNMENTS, LAYOUTS, VALUE_ORDERS, choose, flag, integer, real, scale_of, single, text
from ._rope import Rope, pointer_to


def window_of(window: Any) -> tuple[int, int]:
    """Tokens before and after, -1: unbounded. Errors: TypeError, ValueError."""
    if window is None:
        return -1, -1
    if not isinstance(window, (tuple, list)) or len(window) != 2:
        raise TypeError(f"window: got {window!r}, expected None or (left, right), tokens, -1 for unbounded")
    return integer(window[0], "window", 64), integer(window[1], "window", 64)


def _add_scores(call: Call, args: AttentionArgs, score: str | None, inputs: Mapping[str, Any] | None) -> None:
    args.score = text(score, "score")
    if inputs is not None and not isinstance(inputs, Mapping):
        raise TypeError(f"score_inputs: got {type(inputs).__name__}, expected arrays by name")
    if inputs:
        views = [ScoreInput(text(name, "score_inputs"), call.tensor(array, f"score_inputs.{name}"))
                 for name, array in inputs.items()]
        args.score_inputs = (ScoreInput * len(views))(*views)
        args.score_input_count = len(views)


def attention_args(call: Call, q: Any, k: Any, v: Any, *, scale: float | None, causal: bool, alignment: str, window: Any,
                   softcap: float, bias: Any, mask: Any, sinks: Any, alibi: Any, seqused_k: Any, cu_seqlens_q: Any,
                   cu_seqlens_k: Any, block_table: Any, rope: Rope | None, value_rope: Rope | None, keys_rotated: bool,
                   values_rotated: bool, q_positions: Any, k_positions: Any, score: str | None,
                   score_inputs: Mapping[str, Any] | None, dropout: float, dropout_seed: int, dropout_offset: int,
                   value_order: str, layout: str) -> AttentionArgs:
    """Everything but out and lse. Errors: ValueError, TypeError."""
    left, right = window_of(window)
    args = AttentionArgs(
        layout=choose(layout, "layout", LAYOUTS), q=call.tensor(q, "q"), k=call.tensor(k, "k"), v=call.tensor(v, "v"),
        scale=scale_of(scale), softcap=single(softcap, "softcap"),
        causal=flag(causal, "causal"), alignment=choose(alignment, "alignment", ALIGNMENTS), window_left=left,
        window_right=right, bias=call.optional(bias, "bias"), mask=call.optional(mask, "mask"),
        sinks=call.optional(sinks, "sinks"), alibi=call.optional(alibi, "alibi"),
        seqused_k=call.optional(as_list(seqused_k, "seqused_k"), "seqused_k"),
        cu_seqlens_q=call.optional(as_list(cu_seqlens_q, "cu_seqlens_q"), "cu_seqlens_q"),
        cu_seqlens_k=call.optional(as_list(cu_seqlens_k, "cu_seqlens_k"), "cu_seqlens_k"),
        page_table=call.optional(as_list(block_table, "block_table"), "block_table"), rope=pointer_to(rope, "rope"),
        value_rope=pointer_to(value_rope, "value_rope"), keys_rotated=flag(keys_rotated, "keys_rotated"),
        values_rotated=flag(values_rotated, "values_rotated"),
        q_positions=call.optional(as_list(q_positions, "q_positions"), "q_positions"),
        k_positions=call.optional(as_list(k_positions, "k_positions"), "k_positions"),
        dropout=real(dropout, "dropout"), dropout_offset=integer(dropout_offset, "dropout_offset", 32, signed=False),
        dropout_seed=integer(dropout_seed, "dropout_seed", 64, signed=False),
        value_order=choose(value_order, "value_order", VALUE_ORDERS))
    call.keep(rope, value_rope)
    _add_scores(call, args, score, score_inputs)
    return args
