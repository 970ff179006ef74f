"""Packs what a visit takes along, after it has been rehearsed on the emulated device.

    python archive.py TREE VARIANTS ARCHIVE.tar.xz

TREE is a build with tests and CUDA, VARIANTS the folder of libraries that bench/cuda/variants makes. The folder is left beside
the archive, unpacked.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]
MOST_BYTES = 64 << 20


def stripped(source, target):
    shutil.copyfile(source, target)
    subprocess.run(["strip", "--strip-unneeded", target], check=True)
    target.chmod(0o755)


def gather(tree, folder):
    """The library with its images and the program of the visit."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "images").mkdir(parents=True)
    (folder / "variants").mkdir()
    library = next((tree / "lib").glob("libgyre.so.*.*.*"))
    stripped(library, folder / "libgyre.so")
    soname = next(path for path in (tree / "lib").glob("libgyre.so.*") if path.is_symlink()).name
    (folder / soname).symlink_to("libgyre.so")
    linked = library.read_bytes()
    for image in (tree / "kernels" / "shipped").glob("*.fatbin"):
        if image.read_bytes() in linked:  # else of a kernel that is gone
            shutil.copy(image, folder / "images")
    shutil.copytree(HERE, folder / "visit", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "runtime" / "python" / "gyre" / "_structures.py", folder / "visit")


def rehearse(tree, folder, stages, *options):
    """Runs stages on the emulated device. Returns the exit status, and of each entry that was launched its threads and bytes of shared
    memory.
    """
    log = folder.with_name("launches.log")
    log.unlink(missing_ok=True)
    sanitizer = subprocess.run(["cc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout.strip()
    paths = os.pathsep.join([str(tree / "tests" / "cuda" / "driver"), str(folder)])
    environment = {**os.environ, "LD_LIBRARY_PATH": paths, "FAKE_CUDA_LAUNCHES": str(log), "LD_PRELOAD": sanitizer,
                   "ASAN_OPTIONS": "detect_leaks=0"}
    command = [sys.executable, str(folder / "visit"), str(folder), "--small", "--out", str(folder.with_name("rehearsal")), "--stages",
               *stages, *options]
    status = subprocess.run(command, env=environment, check=False).returncode
    launches = {}
    if log.exists():
        for line in log.read_text(encoding="utf-8").splitlines():
            entry, threads, shared = line.split()
            launches[entry] = [int(threads), max(int(shared), launches.get(entry, [0, 0])[1])]
    return status, launches


def register(folder, library):
    """Loads a variant in a process of its own, and makes a context of its kernels."""
    program = (f"import sys, ctypes; sys.path.insert(0, {str(folder / 'visit')!r}); import _structures as s; "
               f"gyre = ctypes.CDLL({str(folder / 'libgyre.so')!r}, mode=ctypes.RTLD_GLOBAL); ctypes.CDLL({str(library)!r}); "
               f"options = s.ContextOptions(library={library.stem[3:].encode()!r}); "
               "sys.exit(gyre.gyre_context_create(ctypes.byref(options), ctypes.byref(ctypes.c_void_p())))")
    if subprocess.run([sys.executable, "-c", program], check=False).returncode:
        sys.exit(f"{library.name} does not register its kernels")


def main():
    tree, variants, archive = map(pathlib.Path, sys.argv[1:])
    folder = archive.with_name("gyre-visit").absolute()
    gather(tree.absolute(), folder)
    stripped(tree / "tests" / "cuda" / "gyre_tests_device", folder / "gyre_tests_device")
    known = folder / "images" / "launches.json"
    known.write_text("{}", encoding="utf-8")
    status, launches = rehearse(tree.absolute(), folder, ["machine", "accuracy", "timings", "variants"])
    known.write_text(json.dumps(launches), encoding="utf-8")
    status = rehearse(tree.absolute(), folder, ["images"])[0] or status
    if status:
        sys.exit("the rehearsal failed: the lines above say where")
    for library in variants.glob("lib*.so"):  # the emulated device has no kernels of theirs
        stripped(library, folder / "variants" / library.name)
        register(folder, folder / "variants" / library.name)
    subprocess.run(["tar", "-C", folder.parent, "-cJf", archive.absolute(), folder.name], check=True)
    size = archive.stat().st_size
    if size > MOST_BYTES:
        sys.exit(f"{archive} has {size} bytes, expected at most {MOST_BYTES}")
    print(f"{archive}: {size >> 20} MiB; there: python3 gyre-visit/visit gyre-visit")


if __name__ == "__main__":
    main()
