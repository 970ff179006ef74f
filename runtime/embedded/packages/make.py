"""Packs gyre_embedded for other ways of building a firmware.

    python make.py zephyr|platformio|cmsis|rust OUT PROCESSOR=PREFIX...

PREFIX is what `cmake --install` wrote for a processor, such as cortex-m4=build/prefix-m4. OUT is a folder that does not exist yet, or
for cmsis the folder that gets the .pack file. README.md beside this file says what comes of it.
"""

import pathlib
import sys

import cmsis_pack
import platformio_library
import rust_crate
import zephyr_module
from prefix import PackageError, read_prefixes

KINDS = {
    "zephyr": zephyr_module.write,
    "platformio": platformio_library.write,
    "cmsis": cmsis_pack.write,
    "rust": rust_crate.write,
}


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[2])
    try:
        if sys.argv[1] != "cmsis" and out.exists():
            raise PackageError(f"{out} exists: name a folder that does not")
        written = KINDS[sys.argv[1]](out, read_prefixes(sys.argv[3:]))
    except PackageError as error:
        sys.exit(f"make.py: {error}")
    print(f"wrote {written}")


if __name__ == "__main__":
    main()
