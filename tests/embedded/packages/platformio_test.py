"""The library for PlatformIO and Arduino: its files, its extra script as PlatformIO runs it, and its example as Arduino links it.

    python platformio_test.py BOARD.json
"""

import json
import os
import pathlib

from board import BOARDS, BoardTest, main

HERE = pathlib.Path(__file__).resolve().parent


class Environment:
    """What the extra script asks SCons for."""

    def __init__(self, processor):
        self.processor, self.added = processor, {}

    def BoardConfig(self):
        return {"build.cpu": self.processor}

    def Append(self, **words):
        self.added.update(words)


def run_extra_script(folder, processor):
    """What it adds to the environments of the library and of the program."""
    own, program, before = Environment(processor), Environment(processor), pathlib.Path.cwd()
    try:
        os.chdir(folder)
        text = (folder / "link_library.py").read_text(encoding="utf-8")
        exec(text, {"Import": lambda name: None, "env": own, "DefaultEnvironment": lambda: program})
    finally:
        os.chdir(before)
    return own.added, program.added


class PlatformioTest(BoardTest):
    def test_library(self):
        folder = self.package("platformio")
        described = json.loads((folder / "library.json").read_text(encoding="utf-8"))
        properties = dict(line.split("=", 1) for line in (folder / "library.properties").read_text(encoding="utf-8").splitlines())
        self.assertEqual(described["version"], properties["version"])
        self.assertEqual(described["name"], properties["name"])
        for example in described["examples"]:
            for name in example["files"]:
                self.assertTrue((folder / example["base"] / name).exists(), name)

        own, program = run_extra_script(folder, self.board["processor"])
        self.assertEqual(own, program)
        found = pathlib.Path(program["LIBPATH"][0])
        self.assertEqual(found, folder / "src" / self.board["processor"] / found.name)
        self.assertTrue((found / f"lib{properties['ldflags'].removeprefix('-l')}.a").exists())
        self.assertEqual(program["CCFLAGS"], ["-mfloat-abi=hard", f"-mfpu={found.name.removesuffix('-hard')}"])
        with self.assertRaisesRegex(SystemExit, f"no library for cortex-m0; this package has: {self.board['processor']}$"):
            run_extra_script(folder, "cortex-m0")

        sketch = folder / "examples" / "decode"
        flags = (*program["CCFLAGS"], "-Os", "-I", folder / "src", "-I", BOARDS)
        arduino = ("-x", "c++", "-std=c++17", "-fno-exceptions", "-fno-rtti", "-include", HERE / "arduino" / "Arduino.h")
        objects = [self.compile(sketch / "decode.c", *flags), self.compile(sketch / "decode.ino", *arduino, *flags)]
        objects.append(self.compile(HERE / "arduino" / "main.cpp", *arduino, *flags))
        self.link_and_run(objects + self.board_objects(), f"-L{found}", *(f"-l{name}" for name in program["LIBS"]))


if __name__ == "__main__":
    main()
