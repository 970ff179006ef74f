"""A Rust crate, gyre-sys: bindings without std, and the libraries, which its build script links."""

import shutil

from prefix import HERE, copy_library, fill, kernels_of, numbers_of, write_license

TYPES = {"rotary": "gyre_embedded_rotary_kernel", "attention": "gyre_embedded_attention_kernel"}


def write_kernels(file, prefixes):
    """The kernels, and their bytes of workspace."""
    lines = ["// The kernels of this crate's libraries. Written by Gyre's make.py.", "use crate::*;", "", 'extern "C" {']
    lines += [f"    pub static {name}: {TYPES[operation]};" for name, operation in kernels_of(prefixes).items()]
    lines += ["}", ""]
    lines += [f"pub const {name}: usize = {value};" for name, value in numbers_of(prefixes).items()]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write(out, prefixes):
    shutil.copytree(HERE / "rust", out)
    write_license(out, prefixes)
    write_kernels(out / "src" / "kernels.rs", prefixes)
    for prefix in prefixes:
        copy_library(prefix, out / "lib" / prefix.processor)
    manifest = out / "Cargo.toml"
    manifest.write_text(fill(manifest.read_text(encoding="utf-8"), prefixes), encoding="utf-8")
    return out
