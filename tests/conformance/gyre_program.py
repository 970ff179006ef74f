"""The command line program as a function of arrays."""
import pathlib
import subprocess
import tempfile

import numpy as np


class ProgramFailed(Exception):
    pass


def run(gyre, command, arrays, options, output):
    """Runs `gyre command --name array.npy … options --output out.npy` and returns the array that it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        line = [gyre, command]
        for name, array in arrays.items():
            path = pathlib.Path(folder) / f"{name}.npy"
            np.save(path, np.ascontiguousarray(array))
            line += [f"--{name}", str(path)]
        written = pathlib.Path(folder) / "result.npy"
        line += [*options, f"--{output}", str(written)]
        process = subprocess.run(line, capture_output=True, text=True)
        if process.returncode != 0:
            raise ProgramFailed(f"exit code {process.returncode}: {process.stderr.strip()}")
        return np.load(written)
