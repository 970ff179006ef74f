"""What is timed: b=1,h=8,hkv=8,lq=1024,lk=1024,d=64,causal=0."""

import argparse
import re

from errors import refuse

SIZES = {"b": 1, "h": None, "hkv": None, "lq": None, "lk": None, "d": None, "causal": 0}


def shape(text):
    """{size: number} of those that are said."""
    sizes = {}
    for part in text.split(","):
        key, _, value = part.partition("=")
        if key not in SIZES or key in sizes or not re.fullmatch(r"\d{1,9}", value) or int(value) < (key != "causal"):
            raise argparse.ArgumentTypeError(
                f"'{text}'; expected sizes among {', '.join(SIZES)}, each once, as in b=1,h=8,lq=1024,causal=1"
            )
        sizes[key] = int(value)
    return sizes


def complete_shape(given, declared, parameters):
    """The shape as the runner reads it: what is not said is as the search space declares, or as the kernel is."""
    sizes = {key: value for key, value in {**SIZES, **shape(declared), **given}.items() if value is not None}
    if "head_dim" in parameters:
        head_dim = int(parameters["head_dim"])
        fits = sizes.setdefault("d", head_dim if parameters.get("padded") != "true" else max(head_dim * 7 // 8, 1))
        if fits > head_dim or (fits < head_dim and parameters.get("padded") != "true"):
            refuse(
                "--shape", f"d={fits}", f"{'at most ' if parameters.get('padded') == 'true' else ''}d={head_dim}, the kernel's"
            )
    sizes.setdefault("hkv", sizes["h"])
    sizes.setdefault("lk", sizes["lq"])
    if sizes["h"] % sizes["hkv"]:
        refuse("--shape", f"h={sizes['h']}, hkv={sizes['hkv']}", "h that is a multiple of hkv")
    return ",".join(f"{key}={sizes[key]}" for key in SIZES)
