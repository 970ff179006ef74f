"""A library for 64-bit ARM with kernels for CUDA devices, as machines beside a Grace Hopper's or a Jetson's take it: cross-compiled, as far as what
launches kernels, one kernel's host side and its image. No such machine runs it here.

    python cuda_on_arm_test.py CMAKE SOURCES GENERATORS NVCC FOLDER
"""

import os
import pathlib
import shutil
import struct
import subprocess
import sys

SKIPPED = 77
AARCH64 = 183  # of an ELF header
KERNEL = "gyrekernel_gyre_rotary_bf16_half__cuda"


def machine(path):
    head = path.read_bytes()[:20]
    return struct.unpack_from("<H", head, 18)[0] if head[:4] == b"\x7fELF" else None


def run(*words, **options):
    ended = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    if ended.returncode:
        sys.exit(f"{' '.join(map(str, words))}:\n{ended.stdout[-3000:]}{ended.stderr[-3000:]}")
    return ended.stdout


def main():
    cmake, sources, generators, nvcc, folder = sys.argv[1:]
    if not shutil.which("aarch64-linux-gnu-g++"):
        print("skipped: there is no aarch64-linux-gnu-g++: apt-get install g++-aarch64-linux-gnu")
        sys.exit(SKIPPED)
    tree = pathlib.Path(folder)
    shutil.rmtree(tree, ignore_errors=True)
    run(cmake, "-G", "Ninja", "-S", sources, "-B", tree, f"-DCMAKE_TOOLCHAIN_FILE={sources}/cmake/toolchains/aarch64-linux-gnu.cmake",
        "-DGYRE_CUDA=ON", f"-DGYRE_CUDA_COMPILER={nvcc}", "-DGYRE_OPS=rotary", "-DGYRE_TARGETS=arm_64_neon;cuda", "-DGYRE_BUILD_TESTS=OFF",
        "-DGYRE_BUILD_CLI=OFF", "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON", f"-DGYRE_GENERATORS={generators}")
    known = run("ninja", "-C", tree, "-t", "targets", "all")
    objects = sorted({line.split(":")[0] for line in known.splitlines() if "gyre_runtime.dir/cuda/" in line and ".o:" in line})
    kernel = [f"kernels/shipped/{KERNEL}.o", f"kernels/shipped/{KERNEL}.image.o"]
    if len(objects) < 15:
        sys.exit(f"found {len(objects)} sources of runtime/cuda to compile")
    run("ninja", "-C", tree, *objects, *kernel, env={**os.environ})
    wrong = [name for name in objects + kernel if machine(tree / name) != AARCH64]
    if wrong:
        sys.exit(f"not of 64-bit ARM: {', '.join(wrong)}")
    print(f"{len(objects)} objects that launch kernels, a kernel and its image")


if __name__ == "__main__":
    main()
