"""Makes a folder with a Python of another machine and NumPy, which runs under qemu: the wheel for that machine can be tried with it.

    python emulated_python.py FOLDER [--machine aarch64]
    cmake/go arm "-DGYRE_EMULATED_PYTHON=$(python tests/python/emulated_python.py build/python-aarch64)"

Python comes from the packages of this Debian for the other machine, NumPy and ml_dtypes from PyPI. They are only unpacked: nothing is
installed, and nothing outside FOLDER changes. A folder that is there already is taken as it is.
Prints the words that run it, separated by ";". Needs apt-get, dpkg-deb, pip and qemu-user.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

DEBIAN = {"aarch64": "arm64"}  # what Debian calls a machine
DEBS = ("python3-minimal", "libpython3-stdlib", "libstdc++6")
NOT_NEEDED = ("dpkg_", "tar_")  # what the packages depend on for being installed
WHEELS = ("numpy", "ml_dtypes")
GLIBC = range(17, 37)  # the wheels may be for these versions 2.x of glibc; Debian 12 has 2.36


def run(*words):
    """Runs a program; what it prints goes to standard error."""
    subprocess.run([str(word) for word in words], stdout=sys.stderr, check=True)


def unpack_debian(root, machine, work):
    """Unpacks Python and what it depends on, as apt-get of that machine would choose them."""
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (work / folder).mkdir(parents=True)
    (work / "state" / "status").touch()  # nothing is installed: everything is fetched
    options = {"APT::Architecture": machine, "APT::Architectures": machine, "Dir::State": work / "state",
               "Dir::State::status": work / "state" / "status", "Dir::Cache": work / "cache", "Debug::NoLocking": 1}
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
    run(*apt, "update")
    run(*apt, "install", "--download-only", "--yes", "--no-install-recommends", *DEBS)
    for deb in sorted((work / "cache" / "archives").glob("*.deb")):
        if not deb.name.startswith(NOT_NEEDED):
            run("dpkg-deb", "-x", deb, root)


def unpack_wheels(root, machine, work):
    """Unpacks NumPy where Debian's Python looks for modules."""
    (python,) = (path.name for path in root.glob("usr/bin/python3.*"))
    platforms = [f"--platform=manylinux_2_{minor}_{machine}" for minor in GLIBC]
    run(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", *platforms,
        f"--python-version={python.removeprefix('python')}", "--dest", work / "wheels", *WHEELS)
    for wheel in sorted((work / "wheels").glob("*.whl")):
        zipfile.ZipFile(wheel).extractall(root / "usr/lib/python3/dist-packages")


def words_to_run(root, machine):
    (python,) = root.glob("usr/bin/python3.*")
    return [f"qemu-{machine}", "-L", str(root), str(python)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--machine", choices=DEBIAN, default="aarch64")
    options = parser.parse_args()
    root = options.folder.resolve()
    if not root.exists():
        root.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root.parent, prefix=f"{root.name}-") as folder:
            work = pathlib.Path(folder)
            (work / "root").mkdir()
            unpack_debian(work / "root", DEBIAN[options.machine], work)
            unpack_wheels(work / "root", options.machine, work)
            run(*words_to_run(work / "root", options.machine), "-c", "import ctypes, ml_dtypes, numpy")
            shutil.move(work / "root", root)
    print(";".join(words_to_run(root, options.machine)))


if __name__ == "__main__":
    main()
