"""What the 1-layer model learns of distances with RoPER and does not with RoPE; the probabilities that it saves; and how the
program refuses bad usage.

python3 learning_test.py <gyre_experiment> roper|rope|maps|usage
"""

import re
import subprocess
import sys
import tempfile

import numpy as np

BOUNDS = {"roper": (0.95, 1.0), "rope": (0.0, 0.60)}


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True)


def check_learning(program, encoding):
    result = run(program, "--task", "dist", "--encoding", encoding)
    print(result.stdout, result.stderr)
    assert result.returncode == 0, result.returncode
    exact = float(re.search(r"exact match ([0-9.]+)", result.stdout.splitlines()[-1]).group(1))
    low, high = BOUNDS[encoding]
    assert low <= exact <= high, f"{encoding}: exact match {exact}, expected {low} to {high}"


def check_maps(program):
    with tempfile.TemporaryDirectory() as folder:
        options = ["--encoding", "t5", "--layers", "2", "--steps", "2", "--evaluated", "4", "--out", folder]
        for arguments in ([], ["--probabilities", f"{folder}/p.npy"]):
            result = run(program, *options, *arguments)
            assert result.returncode == 0, result
        maps = np.load(f"{folder}/p.npy")
        assert maps.shape == (2, 4, 64, 64), maps.shape
        assert np.abs(maps.sum(axis=-1) - 1).max() < 1e-5
        assert np.triu(maps, 1).max() < 1e-15 and (maps >= 0).all()  # kernels take powers below 2^-64 for that
        assert maps.std(axis=(1, 2, 3)).min() > 0


def check_usage(program):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/dist-rope-0.checkpoint", "wb") as file:
            file.write(b"not a checkpoint")
        cases = [
            (["--task", "copy"], 2, "dist, sub, add, nback"),
            (["--encoding", "xl"], 2, "rope, roper, values, alibi, t5, sin, learned, none"),
            (["--probabilities", f"{folder}/p.npy"], 2, "--probabilities"),
            (["--out", folder + "/new", "--probabilities", f"{folder}/p.npy"], 2, "--probabilities"),
            (["--batch", "-1"], 2, "--batch"),
            (["--length", "32"], 2, "--length"),
            (["--rate", "0"], 2, "--rate"),
            (["--threads", "0"], 2, "--threads"),
            (["--target", "x86_64_nothing"], 1, "x86_64_nothing"),
            (["--encoding", "rope", "--out", folder], 2, "it is no checkpoint"),
            (["--out", "/proc/nowhere"], 2, "--out"),
        ]
        for arguments, status, words in cases:
            result = run(program, *arguments, "--stop-after", "1")
            lines = result.stderr.splitlines()
            assert (result.returncode, len(lines)) == (status, 1), (arguments, result)
            assert words in lines[0], (arguments, lines)


if __name__ == "__main__":
    if sys.argv[2] == "usage":
        check_usage(sys.argv[1])
    elif sys.argv[2] == "maps":
        check_maps(sys.argv[1])
    else:
        check_learning(sys.argv[1], sys.argv[2])
