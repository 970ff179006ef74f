"""Attention's debugging output in NumPy, in double: the fused kernels never form the matrix of scores, and need not."""
import numpy as np


def scores(q, k, bias, scale, softcap, mode):
    """qk_matmul_output of ONNX: [batch, num_heads, seqlen_q, seqlen_kv].

    mode 0: scale * Q K^T;   1: after softcap;   2: after bias and masks, too;   3: after softmax.
    bias: what is added, -inf where masked, or None.
    """
    q, k = q.astype(np.float64), k.astype(np.float64)
    k = np.repeat(k, q.shape[1] // k.shape[1], axis=1)
    s = scale * np.matmul(q, k.swapaxes(-1, -2))
    if mode == 0:
        return s
    if softcap > 0:
        s = softcap * np.tanh(s / softcap)
    if mode == 1:
        return s
    if bias is not None:
        s = s + bias
    if mode == 2:
        return s
    maximum = s.max(axis=-1, keepdims=True)
    weights = np.where(np.isneginf(s), 0.0, np.exp(s - np.where(np.isneginf(maximum), 0.0, maximum)))
    total = weights.sum(axis=-1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
