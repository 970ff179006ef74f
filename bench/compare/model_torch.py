"""A call of model_calls by PyTorch: every form that a user may write it in. All masks and biases are formed beforehand."""

import numpy as np
import torch
from model_arrays import angles

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
sdpa = torch.nn.functional.scaled_dot_product_attention


def set_up(threads):
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)


def version():
    return f"{torch.__version__}, {torch.backends.cpu.get_cpu_capability()}"


def narrow(array, dtype):
    """In PyTorch's own memory, which begins at a cache line, in f32 as well."""
    return torch.from_numpy(np.ascontiguousarray(array)).to(DTYPES[dtype], copy=True)


def tensors(inputs, dtype):
    """[batch, heads, tokens, dim]; where a token's heads lie side by side, a view of [batch, tokens, heads, dim]."""
    if not inputs.heads_in_tokens:
        return [narrow(x, dtype) for x in (inputs.q, inputs.k, inputs.v)]
    return [narrow(x.swapaxes(1, 2), dtype).transpose(1, 2) for x in (inputs.q, inputs.k, inputs.v)]


def results(inputs, dtype):
    """NaN, [batch, heads, queries, v_head_dim] as tensors() has them."""
    batch, heads, queries = inputs.q.shape[:3]
    size = (batch, queries, heads) if inputs.heads_in_tokens else (batch, heads, queries)
    found = torch.full((*size, inputs.call.value_dim), float("nan"), dtype=DTYPES[dtype])
    return found.transpose(1, 2) if inputs.heads_in_tokens else found


def added_mask(inputs, dtype):
    """Bias, ALiBi, padding and diagonal as one mask that is added, of the queries' type; None without any."""
    added = None if inputs.bias is None else inputs.bias
    if inputs.slopes is not None:
        added = inputs.slopes[None, :, None, None] * inputs.distances()
    seen = inputs.visible()
    if seen is not None:
        added = np.where(seen, np.float32(0) if added is None else added, np.float32(-np.inf))
    return None if added is None else with_four_dimensions(narrow(added, dtype))


def with_four_dimensions(mask):
    return mask if mask.dim() == 4 else mask[None, None]


def masks(inputs, dtype):
    """By name, the masks that are worth a trial."""
    found = {}
    added = added_mask(inputs, dtype)
    if added is not None:
        found["float mask"] = added
    if added is not None and inputs.bias is None and inputs.slopes is None:
        found["bool mask"] = with_four_dimensions(torch.from_numpy(inputs.visible()))
    return found


def folded(mask, call):
    """[b, heads or 1, queries or 1, keys] for queries [b, key heads, group * queries, dim]."""
    per_head = mask.shape[1] > 1
    mask = mask.expand(mask.shape[0], call.heads if per_head else call.group, call.queries, call.keys)
    return mask.reshape(mask.shape[0], call.kv_heads if per_head else 1, call.group * call.queries, call.keys).contiguous()


def masked_forms(call, q, k, v, mask, options):
    """Heads that share keys: by enable_gqa, by repeated keys, or as rows of one head."""
    if call.group == 1:
        return {"": lambda: sdpa(q, k, v, attn_mask=mask, **options)}
    forms = {"enable_gqa": lambda: sdpa(q, k, v, attn_mask=mask, enable_gqa=True, **options),
             "repeated heads": lambda: sdpa(q, k.repeat_interleave(call.group, 1), v.repeat_interleave(call.group, 1),
                                            attn_mask=mask, **options)}
    if not options.get("is_causal"):
        rows = q.reshape(call.batch, call.kv_heads, -1, call.head_dim)
        of_rows = None if mask is None else folded(mask, call)
        forms["heads as rows"] = lambda: sdpa(rows, k, v, attn_mask=of_rows, **options).reshape(*q.shape[:3], -1)
    return forms


def sequence_by_sequence(call, inputs, q, k, v):
    """What a careful user does of padding: only the keys that a sequence has."""
    if call.batch == 1 or not call.padding or call.alibi or call.relative_bias or (call.causal and call.queries > 1):
        return {}
    ranges = [np.flatnonzero(seen)[[0, -1]] for seen in inputs.padding[:, 0, 0]]
    rows = q.reshape(call.batch, call.kv_heads, -1, call.head_dim)

    def run():
        parts = [sdpa(rows[i:i + 1], k[i:i + 1, :, first:last + 1], v[i:i + 1, :, first:last + 1], scale=inputs.scale)
                 for i, (first, last) in enumerate(ranges)]
        return torch.cat(parts).reshape(*q.shape[:3], -1)

    return {"a sequence at a time": run}


def fused_forms(call, inputs, dtype, q, k, v):
    options = {"scale": inputs.scale}
    found = {}
    if call.is_causal_alone and call.queries == call.keys:
        found.update({"is_causal": masked_forms(call, q, k, v, None, {"is_causal": True, **options})})
    elif call.is_causal_alone and call.queries == 1:
        found.update({"no mask": masked_forms(call, q, k, v, None, options)})
    else:
        given = masks(inputs, dtype) or {"no mask": None}
        found.update({name: masked_forms(call, q, k, v, mask, options) for name, mask in given.items()})
    if call.window and call.queries == 1:  # a cache of which only the window is handed over
        first = call.keys - 1 - call.window
        found["keys in the window"] = masked_forms(call, q, k[:, :, first:], v[:, :, first:], None, options)
    forms = {f"{mask}{', ' if form else ''}{form}": run for mask, by_form in found.items() for form, run in by_form.items()}
    return {**forms, **sequence_by_sequence(call, inputs, q, k, v)}


def with_sinks(call, inputs, dtype, q, k, v):
    """A sink is one more key of zeros whose score is added by the mask, and whose value is zero."""
    seen = inputs.visible()
    seen = np.ones((call.queries, call.keys), bool) if seen is None else seen
    first = call.keys - 1 - call.window if call.window and call.queries == 1 else 0
    seen = seen[..., first:]
    mask = np.zeros((1, call.heads, call.queries, seen.shape[-1] + 1), np.float32)
    mask[..., :-1] = np.where(seen, 0, -np.inf)
    mask[..., -1] = inputs.sinks[:, None]
    mask = narrow(mask, dtype)
    k, v = (torch.cat((x[:, :, first:], torch.zeros_like(x[:, :, :1])), 2) for x in (k, v))
    longer = call._replace(keys=k.shape[2])
    return {f"sinks as a key, {name}": run
            for name, run in masked_forms(longer, q, k, v, mask, {"scale": inputs.scale}).items()}


def with_softcap(call, inputs, dtype, q, k, v):
    """Two products with everything between them in place; heads are rows of their key head."""
    rows = q.reshape(call.batch, call.kv_heads, -1, call.head_dim)
    mask = added_mask(inputs, dtype)
    mask = None if mask is None or call.queries == 1 else folded(mask, call)

    def run():
        scores = torch.matmul(rows, k.transpose(2, 3))
        scores.mul_(inputs.scale / call.softcap).tanh_().mul_(call.softcap)
        if mask is not None:
            scores.add_(mask)
        return torch.matmul(torch.softmax(scores, -1), v).reshape(*q.shape[:3], -1)

    return {"products, tanh, softmax": run}


def with_rotation(call, forms_of, q, k):
    """Queries and keys rotated as models write it, by tables formed beforehand."""
    pairs = torch.from_numpy(angles(np.arange(call.keys), call.rope, call.head_dim))
    interleaved = call.rope.pairing == "interleaved"
    whole = pairs.repeat_interleave(2, -1) if interleaved else torch.cat((pairs, pairs), -1)
    cos, sin = whole.cos().to(q.dtype), whole.sin().to(q.dtype)
    dim = cos.shape[1]

    def half_turn(x):
        if interleaved:
            return torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
        first, second = x.chunk(2, -1)
        return torch.cat((-second, first), -1)

    def rotate(x):
        turned, rest = x[..., :dim], x[..., dim:]
        turned = turned * cos + half_turn(turned) * sin
        return torch.cat((turned, rest), -1) if rest.shape[-1] else turned

    return {f"rotated, {name}": lambda name=name: forms_of(rotate(q), rotate(k))[name]() for name in forms_of(q, k)}


def with_wider_values(call, forms_of, v):
    """PyTorch's fused kernel wants values as wide as keys."""
    wider = torch.nn.functional.pad
    missing = call.head_dim - call.value_dim
    forms = {f"values padded, {name}": lambda name=name: forms_of(wider(v, (0, missing)))[name]()[..., :call.value_dim]
             for name in forms_of(wider(v, (0, missing)))}
    return {**forms, **{f"unfused, {name}": run for name, run in forms_of(v).items()}}


def forms(call, inputs, dtype):
    """By name, functions that return [batch, heads, queries, v_head_dim]."""
    q, k, v = tensors(inputs, dtype)
    if call.softcap:
        return with_softcap(call, inputs, dtype, q, k, v)
    if call.sinks:
        return with_sinks(call, inputs, dtype, q, k, v)
    if call.rope:
        return with_rotation(call, lambda rq, rk: fused_forms(call, inputs, dtype, rq, rk, v), q, k)
    if call.value_dim != call.head_dim:
        return with_wider_values(call, lambda wide: fused_forms(call, inputs, dtype, q, k, wide), v)
    return fused_forms(call, inputs, dtype, q, k, v)
