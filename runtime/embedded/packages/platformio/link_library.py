"""PlatformIO's extra script: links the library for the board's processor, and compiles for floats in registers."""

import pathlib
import sys

Import("env")  # noqa: F821: PlatformIO defines it

FLAGS = {
    "cortex-m4": "fpv4-sp-d16",
    "cortex-m7": "fpv5-d16",
    "cortex-m33": "fpv5-sp-d16",
    "cortex-m55": "auto",
    "cortex-m85": "auto",
}

processor = env.BoardConfig().get("build.cpu", "")  # noqa: F821
source = pathlib.Path.cwd() / "src"  # PlatformIO runs this in the library's folder
folder = source / processor / f"{FLAGS.get(processor)}-hard"
if not folder.is_dir():
    made = sorted(path.parent.name for path in source.glob("*/*-hard"))
    sys.exit(f"gyre_embedded: no library for {processor or 'a board without build.cpu'}; this package has: {', '.join(made)}")

of_floats = ["-mfloat-abi=hard", f"-mfpu={FLAGS[processor]}"]
for target in (env, DefaultEnvironment()):  # noqa: F821: the library's own, and the program's
    target.Append(CCFLAGS=of_floats, LINKFLAGS=of_floats, LIBPATH=[str(folder)], LIBS=["gyre_embedded"])
