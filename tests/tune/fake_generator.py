"""Stands in for the generator of rotary: a knob of its own, fault, says in which way the candidate is bad.

REAL_GENERATOR=… fake_generator.py -g rotary -f SYMBOL -o DIR … fault=NAME_OF_A_FAULT's_number …
"""

import os
import subprocess
import sys
import time

C = {
    "wrong": "int {symbol}_argv(void **a) {{ return 0; }}",
    "traps": "int {symbol}_argv(void **a) {{ __builtin_trap(); }}",
    "spins": "int {symbol}_argv(void **a) {{ volatile int n = 1; while (n); return 0; }}",
    "fails": "int {symbol}_argv(void **a) {{ return -7; }}",
    "eats": "#include <stdlib.h>\n#include <string.h>\nint {symbol}_argv(void **a) {{ for (;;) {{ void *p = malloc(1 << 24);\n"
    "if (!p) abort(); memset(p, 1, 1 << 24); }} }}",
}
# Right, but slow: whatever else the machine does, this shows. Linked with the real kernel under another name.
SLOW = """int {symbol}_real_argv(void **a);
int {symbol}_argv(void **a) {{ for (volatile int i = 0; i < 100000; i++) continue; return {symbol}_real_argv(a); }}"""
C["slow"] = SLOW
# What Halide says of the real kernel's arguments is what the candidate says: the runtime runs no other.
METADATA = """
const void *{symbol}_real_metadata(void);
const void *{symbol}_metadata(void) {{ return {symbol}_real_metadata(); }}
"""
FAULTS = ["none", "refuses", "hangs", "garbage", "slow", *(fault for fault in C if fault != "slow")]


def compile_c(text, path, *objects):
    """An object of this C source and these objects."""
    source = path + ".c"
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.check_call([os.environ.get("CC", "cc"), "-c", "-O1", "-fPIC", "-o", path, source])
    if objects:
        os.rename(path, path + ".own")
        subprocess.check_call(["ld", "-r", "-o", path, path + ".own", *objects])


def main(words):
    given = dict(word.split("=", 1) for word in words if "=" in word)
    fault = FAULTS[int(given.pop("fault", 0))]
    symbol, folder = words[words.index("-f") + 1], words[words.index("-o") + 1]
    if fault == "refuses":
        sys.exit("Error: this knob is refused")
    if fault == "hangs":
        time.sleep(1000)
    path = os.path.join(folder, symbol + ".o")
    if fault == "garbage":
        with open(given["facts"], "w", encoding="utf-8") as facts:
            facts.write('"workspace=0"\n')
        with open(path, "wb") as file:
            file.write(b"\x7fELF this is not an object")
        return
    real = [word for word in words if not word.startswith("fault=")]
    if fault != "none":
        real[real.index(symbol)] = symbol + "_real"
    subprocess.check_call([os.environ["REAL_GENERATOR"], *real])
    if fault != "none":
        compile_c((C[fault] + METADATA).format(symbol=symbol), path, os.path.join(folder, symbol + "_real.o"))


if __name__ == "__main__":
    main(sys.argv[1:])
