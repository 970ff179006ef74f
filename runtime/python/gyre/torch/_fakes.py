"""Shapes and strides of what the operators return, for torch.compile and fake tensors."""

import torch

BSHD, BHSD, THD = 0, 1, 2


def _attention_out(q, v, layout):
    dim = v.shape[-1]
    if layout == THD:
        return q.new_empty(q.shape[0], q.shape[1], dim)
    tokens, heads = (q.shape[2], q.shape[1]) if layout == BHSD else (q.shape[1], q.shape[2])
    out = q.new_empty(q.shape[0], tokens, heads, dim)
    return out.transpose(1, 2) if layout == BHSD else out


def _layout_of(options, count, named):
    """Options come by name or, all of them, by place."""
    return options[-1] if len(options) == count else named.get("layout", BHSD)


@torch.library.register_fake("gyre::attention")
@torch.library.register_fake("gyre::attention_with_lse")
def _(q, k, v, *options, **named):
    layout = _layout_of(options, 27, named)
    out = _attention_out(q, v, layout)
    shape = (q.shape[1], q.shape[0]) if layout == THD else (q.shape[0], *((q.shape[1], q.shape[2]) if layout == BHSD
                                                                          else (q.shape[2], q.shape[1])))
    return out, q.new_empty(shape, dtype=torch.float32)


@torch.library.register_fake("gyre::attention_forward")
def _(q, k, v, *options, **named):
    return _attention_out(q, v, _layout_of(options, 27, named))


@torch.library.register_fake("gyre::attention_plain")
def _(q, k, v, *options, **named):
    return _attention_out(q, v, _layout_of(options, 3, named))


@torch.library.register_fake("gyre::_attention_unrecorded")
def _(q, k, v, scale, causal):
    return _attention_out(q, v, BHSD)


@torch.library.register_fake("gyre::attention_out")
def _(q, k, v, out, lse, *options, **named):
    return None


@torch.library.register_fake("gyre::attention_backward")
def _(out_grad, q, k, v, out, lse, need_bias_grad, bias=None, *options, **named):
    shape = bias.shape if need_bias_grad and bias is not None else (0,)
    return torch.empty_like(q), torch.empty_like(k), torch.empty_like(v), q.new_empty(shape, dtype=torch.float32)


@torch.library.register_fake("gyre::rotary")
def _(x, *options, **named):
    return torch.empty_like(x)


@torch.library.register_fake("gyre::rotary_out")
def _(x, out, *options, **named):
    return None


@torch.library.register_fake("gyre::rotary_qk")
def _(q, k, *options, **named):
    return torch.empty_like(q), torch.empty_like(k)


@torch.library.register_fake("gyre::rotary_qk_out")
def _(q, k, q_out, k_out, *options, **named):
    return None


@torch.library.register_fake("gyre::cache_append")
def _(k, v, k_cache, v_cache, *options, **named):
    return None


def _states(k, v, cu_seqlens_q, layout):
    sequences = cu_seqlens_q.shape[0] - 1 if layout == THD else k.shape[0]
    shape = (sequences, k.shape[2 if layout == BSHD else 1], k.shape[-1])
    return k.new_empty(*shape, v.shape[-1], dtype=torch.float32), k.new_empty(shape, dtype=torch.float32)


def _no_states(k):
    return k.new_empty(0, dtype=torch.float32), k.new_empty(0, dtype=torch.float32)


@torch.library.register_fake("gyre::linear_attention")
def _(q, k, v, return_state=False, *options, cu_seqlens_q=None, **named):
    layout = _layout_of(options, 12, named)
    lists = options[3] if len(options) > 3 else cu_seqlens_q
    return _attention_out(q, v, layout), *(_states(k, v, lists, layout) if return_state else _no_states(k))


@torch.library.register_fake("gyre::linear_attention_backward")
def _(out_grad, kv_state_out_grad, k_state_out_grad, q, k, v, kv_state=None, *options, cu_seqlens_q=None, **named):
    layout = _layout_of(options, 11, named)
    lists = options[2] if len(options) > 2 else cu_seqlens_q
    return (torch.empty_like(q), torch.empty_like(k), torch.empty_like(v),
            *(_no_states(k) if kv_state is None else _states(k, v, lists, layout)))
