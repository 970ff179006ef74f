"""Calls drawn at random of the kinds that model_calls.py has: no list that kernels were tuned for. A seed gives the same calls again."""

import random

from model_calls import Call, Rope

HEAD_DIMS = (32, 40, 48, 56, 64, 64, 64, 72, 80, 88, 96, 104, 112, 120, 128, 128, 128, 160, 192, 256)
# What one call multiplies and reads at most: a list of hundreds is then measured in minutes.
MOST_PRODUCTS = 4e8
MOST_NUMBERS = 1.6e7


def length(draw, least, most):
    """Short and long ones alike: evenly by their logarithm."""
    return round(least * (most / least) ** draw.random())


def heads(draw):
    """Heads and key heads."""
    kv_heads = draw.choice((1, 2, 4, 4, 8, 8, 12, 16, 20, 32))
    group = draw.choice((1, 1, 1, 1, 2, 3, 4, 4, 5, 7, 8, 16))
    return {"heads": kv_heads * group, "kv_heads": kv_heads}


def options(draw, causal):
    """Of scores: at most one, or a window with sinks."""
    kind = draw.choice(("", "", "", "relative_bias", "alibi" if causal else "", "softcap", "sinks", "window", "window and sinks"))
    window = {"window": draw.choice((31, 127, 255, 511, 1023))} if "window" in kind else {}
    return {"relative_bias": kind == "relative_bias", "alibi": kind == "alibi", "softcap": 30.0 * (kind == "softcap"),
            "sinks": "sinks" in kind, **window}


def encoder(draw):
    tokens = length(draw, 16, 1500)
    return {"batch": draw.choice((1, 1, 2, 4, 8, 16)), "queries": tokens, "keys": tokens, "padding": draw.choice(("", "", "right", "left")),
            **options(draw, causal=False)}


def cross_attention(draw):
    return {"batch": draw.choice((1, 2, 4)), "queries": length(draw, 1, 1500), "keys": length(draw, 8, 1500),
            "padding": draw.choice(("", "", "right"))}


def prefill(draw):
    tokens = length(draw, 2, 1500)
    rope = draw.choice((None, None, None, Rope("half"), Rope("interleaved")))
    return {"batch": draw.choice((1, 1, 1, 2, 4)), "queries": tokens, "keys": tokens, "causal": True, "rope": rope,
            "padding": draw.choice(("", "", "", "left", "right")), **options(draw, causal=True)}


def chunk(draw):
    tokens = length(draw, 2, 300)
    return {"batch": draw.choice((1, 1, 2)), "queries": tokens, "keys": tokens + length(draw, 16, 4000), "causal": True,
            **options(draw, causal=True)}


def token(draw):
    return {"batch": draw.choice((1, 1, 1, 2, 3, 5, 8)), "queries": 1, "keys": length(draw, 8, 8192), "causal": True,
            "padding": draw.choice(("", "", "", "left", "lengths")), **options(draw, causal=True)}


def tree(draw):
    drafts = length(draw, 4, 40)
    return {"batch": 1, "queries": drafts, "keys": drafts + length(draw, 16, 2000), "mask": "tree"}


def marked(draw):
    tokens = length(draw, 64, 1000)
    return {"batch": 1, "queries": tokens, "keys": tokens, "mask": draw.choice(("prefix", "documents"))}


KINDS = (encoder, encoder, cross_attention, prefill, prefill, chunk, token, token, token, tree, marked)


def drawn_call(draw):
    kind = draw.choice(KINDS)
    head_dim = draw.choice(HEAD_DIMS)
    v_head_dim = draw.choice((0, 0, 0, 128)) if head_dim == 192 else 0
    fields = {**heads(draw), "head_dim": head_dim, "v_head_dim": v_head_dim, **kind(draw)}
    return Call(described(kind, fields), **fields)


def described(kind, fields):
    """What the call is, in short."""
    told = [name if value is True else f"{name} {value}" for name, value in fields.items()
            if value and name not in ("causal", "batch", "heads", "kv_heads", "queries", "keys", "head_dim", "rope")]
    rotated = [f"{fields['rope'].pairing} pairs"] if fields.get("rope") else []
    return ", ".join((f"{fields['head_dim']}: {kind.__name__}", f"batch {fields['batch']}", f"{fields['heads']} on {fields['kv_heads']} heads",
                      f"{fields['queries']} on {fields['keys']}", *told, *rotated))


def fits(call):
    """Whether it is measured in a moment."""
    rows = call.batch * call.heads * call.queries
    numbers = call.batch * call.kv_heads * call.keys * (call.head_dim + call.value_dim)
    return rows * call.keys * (call.head_dim + call.value_dim) <= MOST_PRODUCTS and numbers <= MOST_NUMBERS


def is_compared(call):
    """Whether model_torch.py has a form of it whose masks are formed before it is timed."""
    marked = call.padding or call.window or call.relative_bias or call.alibi
    unfused = call.softcap or call.sinks
    if call.rope and (marked or unfused or call.value_dim != call.head_dim):
        return False
    # The windows of shorter entries end with their own keys, where the forms have one window for all.
    windows_differ = call.window and call.padding == "lengths" and call.batch > 1
    return call.window < call.keys - 1 and not (unfused and call.padding) and not windows_differ


def drawn_calls(count, seed):
    draw = random.Random(seed)
    found = []
    while len(found) < count:
        call = drawn_call(draw)
        if fits(call) and is_compared(call):
            found.append(call)
    return found
