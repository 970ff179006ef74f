"""A Zephyr module: a folder for west's manifest or ZEPHYR_EXTRA_MODULES, with a library for each processor and a sample."""

import shutil

from prefix import HERE, PackageError, copy_library, copy_sample, write_headers, write_license

PROCESSORS = ("cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55", "cortex-m85")


def write(out, prefixes):
    for prefix in prefixes:
        if prefix.processor not in PROCESSORS:
            raise PackageError(f"zephyr: got {prefix.processor}, valid: {', '.join(PROCESSORS)}")
    shutil.copytree(HERE / "zephyr", out)
    copy_sample(out / "samples" / "decode" / "src")
    write_headers(out / "include", prefixes)
    write_license(out, prefixes)
    for prefix in prefixes:
        copy_library(prefix, out / "lib" / prefix.processor)
    return out
