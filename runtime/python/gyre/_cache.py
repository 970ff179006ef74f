"""Caches of keys and values that grow."""

from typing import Any

from ._arrays import as_list
from ._call import Call
from ._structures import CacheAppendArgs
from ._values import LAYOUTS, VALUE_ORDERS, choose
from ._context import Context
from ._rope import Rope, pointer_to


def cache_append(k: Any, v: Any, k_cache: Any, v_cache: Any, *, cache_seqlens: Any = None, block_table: Any = None,
                 cu_seqlens_k: Any = None, rope: Rope | None = None, value_rope: Rope | None = None, positions: Any = None,
                 layout: str = "bshd", cache_layout: str = "bshd", value_order: str = "rows",
                 context: Context | None = None) -> None:
    """Rotates new keys and values, converts them to the cache's type and writes them behind those that it holds, in one pass.

    k, v              new tokens, [batch, seqlen, num_kv_heads, head_dim] and v_head_dim, or as `layout` says
    k_cache, v_cache  written: [batch, capacity, num_kv_heads, head_dim] in cache_layout "bshd", [batch, num_kv_heads, capacity,
                      head_dim] in "bhsd". k's type, or float16 or bfloat16 if that is float32
    cache_seqlens     [batch] int32, or a list: keys that each sequence has already; None: none. It is only read
    block_table       [batch, max_pages] int32: the caches are pools of pages, [num_pages, page_size, num_kv_heads, dim]
    cu_seqlens_k      [batch + 1] int32, or a list, with layout "thd" alone
    rope, value_rope  rotate keys, and values (RoPER); attention() is then told keys_rotated and values_rotated
    positions         [batch, seqlen] or [seqlen], int32 or int64; None: keys stand where their slots are
    value_order       "blocks": so v_cache keeps values (bfloat16, see gyre/tensor.h)

    Slots of other keys stay as they are. Errors: ValueError (also for more tokens than the cache has room for, a page that the
    pool does not have, a slot written twice), TypeError, NotImplementedError, MemoryError.
    """
    call = Call()
    args = CacheAppendArgs(
        layout=choose(layout, "layout", LAYOUTS), cache_layout=choose(cache_layout, "cache_layout", LAYOUTS),
        k=call.tensor(k, "k"), v=call.tensor(v, "v"), k_cache=call.tensor(k_cache, "k_cache", write=True),
        v_cache=call.tensor(v_cache, "v_cache", write=True),
        cu_seqlens_k=call.optional(as_list(cu_seqlens_k, "cu_seqlens_k"), "cu_seqlens_k"),
        cache_seqlens=call.optional(as_list(cache_seqlens, "cache_seqlens"), "cache_seqlens"),
        page_table=call.optional(as_list(block_table, "block_table"), "block_table"), rope=pointer_to(rope, "rope"),
        value_rope=pointer_to(value_rope, "value_rope"), positions=call.optional(as_list(positions, "positions"), "positions"),
        value_order=choose(value_order, "value_order", VALUE_ORDERS))
    call.keep(rope, value_rope)
    call.run("gyre_cache_append", args, context)
