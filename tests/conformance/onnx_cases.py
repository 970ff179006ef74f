#!/usr/bin/env python3
"""The ONNX package's node tests of RotaryEmbedding and Attention, run through the command line program.

    onnx_cases.py list                                   the names of all cases
    onnx_cases.py run CASE... --gyre build/bin/gyre      or: run all

Every output of a case is compared. Exit code 0: all cases passed, 1: one did not, 2: bad usage.
What the program does not compute is formed here: present_key and present_value are concatenations that it is given,
and qk_matmul_output comes from attention_reference.py. Needs onnx (see onnx_model.py for the version) and numpy.
"""
import argparse
import shutil
import sys

import attention_reference
import gyre_program
import numpy as np
import onnx_model
from onnx_model import join_heads, split_heads

# Per element type of the stored result: absolute and relative to it. The stored numbers were computed in that type.
TOLERANCE = {np.dtype(np.float32): 2e-6, np.dtype(np.float16): 1e-3}


def run_rotary(case, gyre):
    x = case.inputs["X"]
    heads = case.attribute("num_heads", 0)
    arrays = {"x": split_heads(x, heads), "cos": case.inputs["cos_cache"], "sin": case.inputs["sin_cache"]}
    if "position_ids" in case.inputs:
        arrays["positions"] = case.inputs["position_ids"]
    options = []
    if case.attribute("interleaved", 0):
        options.append("--interleaved")
    if case.attribute("rotary_embedding_dim", 0):
        options += ["--rotary-dim", str(case.attribute("rotary_embedding_dim", 0))]
    y = gyre_program.run(gyre, "rotary", arrays, options, "out")
    return {"Y": join_heads(y) if x.ndim == 3 else y}


def attention_mask(case, seqlen_q, seqlen_kv, past):
    """What is added to the scores, or a boolean mask, or None; and whether causal is left for the program to do."""
    mask = case.inputs.get("attn_mask")
    if mask is not None and mask.shape[-1] < seqlen_kv:  # keys that the mask does not reach are masked
        hidden = False if mask.dtype == bool else -np.inf
        pad = [(0, 0)] * (mask.ndim - 1) + [(0, seqlen_kv - mask.shape[-1])]
        mask = np.pad(mask, pad, constant_values=hidden)
    causal = bool(case.attribute("is_causal", 0))
    if causal and past:
        # Query i sees keys up to past + i: neither of the program's alignments unless as many keys as queries are new.
        later = np.arange(seqlen_kv)[None, :] > past + np.arange(seqlen_q)[:, None]
        if mask is None:
            mask = np.zeros((seqlen_q, seqlen_kv), np.float32)
        mask = mask & ~later if mask.dtype == bool else np.where(later, np.array(-np.inf, mask.dtype), mask)
        causal = False
    return mask, causal


def attention_bias(mask, causal, used, seqlen_q, seqlen_kv):
    """All masks as one array that is added to the scores, for the reference."""
    bias = np.zeros((1, 1, seqlen_q, seqlen_kv))
    if mask is not None:
        bias = bias + (np.where(mask, 0.0, -np.inf) if mask.dtype == bool else mask.astype(np.float64))
    if causal:
        bias = bias + np.where(np.tri(seqlen_q, seqlen_kv, dtype=bool), 0.0, -np.inf)
    if used is not None:
        bias = bias + np.where(np.arange(seqlen_kv) < used[:, None], 0.0, -np.inf)[:, None, None, :]
    return bias


def run_attention(case, gyre):
    packed = case.inputs["Q"].ndim == 3
    q = split_heads(case.inputs["Q"], case.attribute("q_num_heads", 0))
    k = split_heads(case.inputs["K"], case.attribute("kv_num_heads", 0))
    v = split_heads(case.inputs["V"], case.attribute("kv_num_heads", 0))
    past = 0
    if "past_key" in case.inputs:
        past = case.inputs["past_key"].shape[2]
        k = np.concatenate([case.inputs["past_key"], k], axis=2)
        v = np.concatenate([case.inputs["past_value"], v], axis=2)
    seqlen_q, seqlen_kv = q.shape[2], k.shape[2]
    mask, causal = attention_mask(case, seqlen_q, seqlen_kv, past)
    used = case.inputs.get("nonpad_kv_seqlen")
    scale = case.attribute("scale", 1 / np.sqrt(q.shape[3]))
    softcap = case.attribute("softcap", 0.0)

    arrays = {"q": q, "k": k, "v": v}
    options = ["--dtype", "f32"]  # the type of the kernels; f16 tensors are converted, exactly, and back for comparison
    if mask is not None:
        arrays["mask" if mask.dtype == bool else "bias"] = mask
    if used is not None:
        arrays["seqused-k"] = used
    if causal:
        options += ["--causal", "top_left"]
    if "scale" in case.attributes:
        options += ["--scale", repr(float(scale))]
    if softcap:
        options += ["--softcap", repr(float(softcap))]
    y = gyre_program.run(gyre, "attention", arrays, options, "out").astype(case.outputs["Y"].dtype)
    bias = attention_bias(mask, causal, used, seqlen_q, seqlen_kv)
    mode = case.attribute("qk_matmul_output_mode", 0)
    return {
        "Y": join_heads(y) if packed else y,
        "present_key": k,
        "present_value": v,
        "qk_matmul_output": attention_reference.scores(q, k, bias, scale, softcap, mode),
    }


def largest_error(got, expected):
    """max |got - expected| / max(1, |expected|); infinite where shapes, infinities or NaN disagree."""
    if got.shape != expected.shape:
        return np.inf
    got, expected = got.astype(np.float64), expected.astype(np.float64)
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        error = np.where(same, 0.0, np.abs(got - expected) / np.maximum(1.0, np.abs(expected)))
    return float(np.max(np.where(np.isfinite(error), error, np.inf), initial=0.0))


def run_case(name, gyre):
    """Prints one line; true if every output of the case is as stored."""
    case = onnx_model.Case(name)
    try:
        results = {"RotaryEmbedding": run_rotary, "Attention": run_attention}[case.operation](case, gyre)
    except gyre_program.ProgramFailed as failure:
        print(f"FAIL {name}: {failure}")
        return False
    compared, passed = [], True
    for output, expected in case.outputs.items():
        error, tolerance = largest_error(results[output], expected), TOLERANCE[expected.dtype]
        passed = passed and error <= tolerance
        compared.append(f"{output} {error:.2g}" + ("" if error <= tolerance else f" > {tolerance:g}"))
    print(f"{'PASS' if passed else 'FAIL'} {name}: error of {', '.join(compared)}")
    return passed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="print the names of all cases")
    run = commands.add_parser("run", help="run cases through the program")
    run.add_argument("cases", nargs="+", metavar="CASE", help="a name of the list, or: all")
    run.add_argument("--gyre", required=True, help="path of the program")
    arguments = parser.parse_args()

    known = onnx_model.case_names()
    if arguments.command == "run" and not shutil.which(arguments.gyre):
        parser.error(f"--gyre {arguments.gyre} is no program")
    if arguments.command == "list":
        print("\n".join(known))
        return 0
    cases = known if arguments.cases == ["all"] else arguments.cases
    for name in cases:
        if name not in known:
            parser.error(f"{name} is no case; see: onnx_cases.py list")
    passed = [run_case(name, arguments.gyre) for name in cases]
    print(f"{sum(passed)} of {len(cases)} cases passed")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
