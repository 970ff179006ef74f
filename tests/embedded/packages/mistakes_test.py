"""What make.py refuses, and how it says so.

    python mistakes_test.py BOARD.json
"""

from board import BoardTest, main


class MistakesTest(BoardTest):
    def refuse(self, expected, kind, out, *words):
        done = self.make(kind, out, *words)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(expected, done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_words(self):
        good, out = f"{self.board['processor']}={self.prefix}", self.work / "out"
        self.refuse("python make.py zephyr|platformio|cmsis|rust", "arduino", out, good)
        self.refuse("got cortex-m4, expected PROCESSOR=PREFIX", "zephyr", out, "cortex-m4")
        self.refuse("cortex-m4: the library is not in", "zephyr", out, f"cortex-m4={self.work}")
        self.refuse("a processor is named twice", "zephyr", out, good, good)
        for kind in ("zephyr", "platformio", "cmsis"):
            self.refuse(f"{kind}: got cortex-a32, valid: cortex-m4", kind, out, f"cortex-a32={self.prefix}")
        self.refuse("exists: name a folder that does not", "rust", self.prefix, good)
        self.assertFalse(out.exists())

    def test_numbers_suffice_for_all(self):
        """A package of two processors has the larger number of the two."""
        other = self.work / "other"
        self.run_words(self.board["cmake"], "--install", self.board["build"], "--prefix", other)
        header = other / "include" / "gyre" / "embedded_kernels.h"
        name = "GYRE_ATTENTION_F32_D64_WORKSPACE"
        text = header.read_text(encoding="utf-8")
        number = int(text.split(f"#define {name} ")[1].split()[0])
        header.write_text(text.replace(f"#define {name} {number}", f"#define {name} {number + 64}"), encoding="utf-8")
        for order in ((self.prefix, other), (other, self.prefix)):
            out = self.work / f"out_{order[0].name}"
            done = self.make("zephyr", out, f"cortex-m4={order[0]}", f"cortex-m7={order[1]}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"#define {name} {number + 64}\n", (out / "include/gyre/embedded_kernels.h").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
