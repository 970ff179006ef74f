"""A library for PlatformIO and for Arduino's IDE, which takes precompiled libraries by the processor's name."""

import json
import shutil

from prefix import HERE, PackageError, copy_library, copy_sample, fill, write_headers, write_license

# processor: the folder below src, as Arduino's builder looks for it: build.mcu, then build.fpu-build.float-abi.
FOLDERS = {
    "cortex-m4": "cortex-m4/fpv4-sp-d16-hard",
    "cortex-m7": "cortex-m7/fpv5-d16-hard",
    "cortex-m33": "cortex-m33/fpv5-sp-d16-hard",
    "cortex-m55": "cortex-m55/auto-hard",
    "cortex-m85": "cortex-m85/auto-hard",
}


def write(out, prefixes):
    for prefix in prefixes:
        if prefix.processor not in FOLDERS:
            raise PackageError(f"platformio: got {prefix.processor}, valid: {', '.join(FOLDERS)}")
    shutil.copytree(HERE / "platformio", out)
    write_headers(out / "src", prefixes)
    write_license(out, prefixes)
    copy_sample(out / "examples" / "decode")
    for prefix in prefixes:
        copy_library(prefix, out / "src" / FOLDERS[prefix.processor])
    for name in ("library.json", "library.properties"):
        file = out / name
        file.write_text(fill(file.read_text(encoding="utf-8"), prefixes), encoding="utf-8")
    json.loads((out / "library.json").read_text(encoding="utf-8"))
    return out
