"""Attention calls that no table of models was made of: odd lengths, head sizes between the usual ones, and every option with some of them.

They tell whether what was tuned for model_calls.py holds elsewhere.
"""

from model_calls import Call

# name, batch, heads, key heads, queries, keys, head_dim
ODD_CALLS = (
    Call("72: encoder, batch 4 padded, 200 tokens", 4, 12, 12, 200, 200, 72, padding="right"),
    Call("72: 1 token on 1333", 1, 16, 16, 1, 1333, 72, causal=True),
    Call("80: prefill 333", 1, 20, 20, 333, 333, 80, causal=True),
    Call("80: relative bias, 384 tokens", 1, 12, 12, 384, 384, 80, relative_bias=True),
    Call("80: ALiBi, batch 2, 1 token on 1501", 2, 16, 16, 1, 1501, 80, causal=True, alibi=True),
    Call("80: cross attention, batch 3, 1 token on 700", 3, 16, 16, 1, 700, 80),
    Call("112: prefill 384, 4 key heads", 1, 16, 4, 384, 384, 112, causal=True),
    Call("112: 1 token on 777", 1, 24, 24, 1, 777, 112, causal=True),
    Call("112: ALiBi, prefill 400", 1, 16, 16, 400, 400, 112, causal=True, alibi=True),
    Call("112: cross attention, 300 tokens on 50", 1, 16, 16, 300, 50, 112),
    Call("160: encoder, batch 3 padded, 400 tokens", 3, 8, 8, 400, 400, 160, padding="right"),
    Call("160: 1 token on 1023", 1, 16, 16, 1, 1023, 160, causal=True),
    Call("192: prefill 300", 1, 12, 12, 300, 300, 192, causal=True),
    Call("192: 1 token on 1500, 8 key heads", 1, 24, 8, 1, 1500, 192, causal=True),
    Call("64: relative bias, batch 2, 1 token on 300", 2, 16, 16, 1, 300, 64, causal=True, relative_bias=True),
    Call("64: sinks and window, prefill 700", 1, 32, 4, 700, 700, 64, causal=True, window=255, sinks=True),
    Call("128: sinks, 1 token on 900", 1, 24, 8, 1, 900, 128, causal=True, sinks=True),
    Call("256: softcap, prefill 300", 1, 8, 2, 300, 300, 256, causal=True, softcap=30.0),
    Call("256: softcap, 1 token on 900", 1, 16, 8, 1, 900, 256, causal=True, softcap=50.0),
    Call("128: 7 drafts on 1111", 1, 40, 8, 7, 1111, 128, causal=True),
    Call("64: tree of 17 drafts on 500", 1, 16, 8, 17, 500, 64, mask="tree"),
    Call("96: batch 5 left-padded, 1 token on 633", 5, 24, 6, 1, 633, 96, causal=True, padding="left"),
    Call("32: relative bias, 16 windows of 49 tokens", 16, 12, 12, 49, 49, 32, relative_bias=True),
    Call("32: relative bias, 64 rows of 64 tokens", 64, 4, 4, 64, 64, 32, relative_bias=True),
    Call("32: batch 32 padded, 32 tokens", 32, 12, 12, 32, 32, 32, padding="right"),
    Call("64: relative bias, batch 8 padded, 64 tokens", 8, 12, 12, 64, 64, 64, relative_bias=True, padding="right"),
    Call("64: relative bias, 25 windows of 196 tokens", 25, 12, 12, 196, 196, 64, relative_bias=True),
    Call("128: 48 heads on 1, 1 token on 2048", 1, 48, 1, 1, 2048, 128, causal=True),
    Call("64: 512 queries on 8192 keys", 1, 8, 8, 512, 8192, 64),
)
