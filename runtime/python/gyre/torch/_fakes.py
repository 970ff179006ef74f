"""Shapes and strides of what the operators return, for torch.compile and fake tensors."""

import torch

BSHD, BHSD, THD = 0, 1, 2


@torch.library.register_fake("gyre::attention")
def _(q, k, v, *options, layout=BHSD, **named):
    layout = options[-1] if len(options) == 26 else layout
    dim = v.shape[-1]
    if layout == THD:
        return q.new_empty(q.shape[0], q.shape[1], dim), q.new_empty(q.shape[1], q.shape[0], dtype=torch.float32)
    tokens, heads = (q.shape[2], q.shape[1]) if layout == BHSD else (q.shape[1], q.shape[2])
    out = q.new_empty(q.shape[0], tokens, heads, dim)
    return out.transpose(1, 2) if layout == BHSD else out, q.new_empty(q.shape[0], heads, tokens, dtype=torch.float32)


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
