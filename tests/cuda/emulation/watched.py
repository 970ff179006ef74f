"""Kernels for the emulation: where nvcc has pointers to what a kernel writes, these have arrays that know who wrote (device_memory.h).

    python watched.py KERNELS.cu OUT.cpp
"""

import pathlib
import re
import sys

HEAD = re.compile(r'^extern "C" __global__ .*$', re.M)
WRITTEN = re.compile(r"(?<=[(,])( ?)(\w+) \*(\w+)")  # what is read alone begins with const


def watched(text):
    return HEAD.sub(lambda head: WRITTEN.sub(r"\1gyre_written<\2> \3", head[0]), text)


def main():
    source, out = map(pathlib.Path, sys.argv[1:])
    out.write_text(watched(source.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
