"""What has been installed for each processor, and what every package takes from it."""

import dataclasses
import pathlib
import re
import shutil

HERE = pathlib.Path(__file__).resolve().parent


class PackageError(Exception):
    """What is wrong with the words of make.py."""


@dataclasses.dataclass(frozen=True)
class Prefix:
    """The library of one processor."""

    processor: str
    folder: pathlib.Path
    version: str
    kernels: str  # the text of gyre/embedded_kernels.h

    @property
    def library(self):
        return self.folder / "lib" / "libgyre_embedded.a"


def read_prefix(word):
    processor, _, folder = word.partition("=")
    if not re.fullmatch(r"[a-z0-9-]+", processor) or not folder:
        raise PackageError(f"got {word}, expected PROCESSOR=PREFIX such as cortex-m4=build/prefix-m4")
    folder = pathlib.Path(folder)
    files = {
        "the library": folder / "lib" / "libgyre_embedded.a",
        "the kernels' header": folder / "include" / "gyre" / "embedded_kernels.h",
        "the version": folder / "lib" / "cmake" / "gyre_embedded" / "gyre_embeddedConfigVersion.cmake",
    }
    for what, file in files.items():
        if not file.exists():
            raise PackageError(f"{processor}: {what} is not in {file}: run `cmake --install BUILD --prefix {folder}`")
    version = re.search(r'PACKAGE_VERSION "([0-9.]+)"', files["the version"].read_text(encoding="utf-8"))[1]
    return Prefix(processor, folder, version, files["the kernels' header"].read_text(encoding="utf-8"))


def read_prefixes(words):
    prefixes = [read_prefix(word) for word in words]
    names = [prefix.processor for prefix in prefixes]
    if len(set(names)) < len(names):
        raise PackageError(f"a processor is named twice: {', '.join(names)}")
    if len({prefix.version for prefix in prefixes}) > 1:
        raise PackageError("the prefixes are of several versions")
    return prefixes


def kernels_of(prefixes):
    """{name: operation} of the kernels that any of the libraries has, in their order."""
    return {name: operation for prefix in prefixes
            for operation, name in re.findall(r"extern const gyre_embedded_(\w+)_kernel (\w+);", prefix.kernels)}


def numbers_of(prefixes):
    """{macro: bytes}: of workspace and stack as much as any of the processors needs, which suffices on all."""
    numbers = {}
    for prefix in prefixes:
        for name, value in re.findall(r"#define (\w+_(?:WORKSPACE|STACK)) (\d+)", prefix.kernels):
            numbers[name] = max(int(value), numbers.get(name, 0))
    return numbers


def write_headers(folder, prefixes):
    """gyre/embedded.h, and one gyre/embedded_kernels.h for all processors."""
    (folder / "gyre").mkdir(parents=True)
    shutil.copy(prefixes[0].folder / "include" / "gyre" / "embedded.h", folder / "gyre")
    declared = [f"extern const gyre_embedded_{operation}_kernel {name};" for name, operation in kernels_of(prefixes).items()]
    defined = [f"#define {name} {value}" for name, value in numbers_of(prefixes).items()]
    processors = ", ".join(prefix.processor for prefix in prefixes)
    text = (HERE / "embedded_kernels.h.in").read_text(encoding="utf-8")
    text = text.replace("@processors@", processors).replace("@text@", "\n".join(declared + defined))
    (folder / "gyre" / "embedded_kernels.h").write_text(text, encoding="utf-8")


def write_license(folder, prefixes):
    shutil.copy(prefixes[0].folder / "share" / "doc" / "gyre_embedded" / "LICENSE", folder)


def copy_library(prefix, folder):
    folder.mkdir(parents=True)
    shutil.copy(prefix.library, folder)


def copy_sample(folder):
    for name in ("decode.c", "decode.h"):
        shutil.copy(HERE / "sample" / name, folder)


def fill(text, prefixes, **words):
    """A template's text with @version@ and further words put in."""
    for name, value in {"version": prefixes[0].version, **words}.items():
        text = text.replace(f"@{name}@", value)
    return text
