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
FAULTS = ["none", "refuses", "hangs", "garbage", *C]


def main(words):
    given = dict(word.split("=", 1) for word in words if "=" in word)
    fault = FAULTS[int(given.pop("fault", 0))]
    symbol, folder = words[words.index("-f") + 1], words[words.index("-o") + 1]
    if fault == "refuses":
        sys.exit("Error: this knob is refused")
    if fault == "hangs":
        time.sleep(1000)
    if fault == "none":
        sys.exit(subprocess.call([os.environ["REAL_GENERATOR"], *(word for word in words if not word.startswith("fault="))]))
    path = os.path.join(folder, symbol + ".o")
    with open(given["facts"], "w", encoding="utf-8") as facts:
        facts.write('"workspace=0"\n')
    if fault == "garbage":
        with open(path, "wb") as file:
            file.write(b"\x7fELF this is not an object")
        return
    source = os.path.join(folder, "fault.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(C[fault].format(symbol=symbol))
    subprocess.check_call([os.environ.get("CC", "cc"), "-c", "-fPIC", "-o", path, source])


if __name__ == "__main__":
    main(sys.argv[1:])
