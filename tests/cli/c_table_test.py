"""gyre frequencies --c: tables for programs without an operating system."""

import json
import re
import subprocess
from pathlib import Path

from harness import GyreTest


class CTable(GyreTest):
    def test_numbers(self):
        """The bits that gyre_embedded_frequency() forms of the same radians, and the scale of gyre_embedded_angles()."""
        rope = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128}
        text = json.dumps(rope)
        report = self.succeed_json("frequencies", "--rope", text, "--head-dim", 16, "--out", "f.npy", "--c", "f.h")
        with open(self.path("f.h"), encoding="utf-8") as file:
            header = file.read()
        expected = [int(radians * 0.15915494309189533577 * 2.0**64) for radians in self.load("f.npy")]
        self.assertEqual([int(turns) for turns in re.findall(r"^    (\d+)u,$", header, re.M)], expected)
        self.assertIn("#define GYRE_ROTARY_DIM 16\n", header)
        self.assertEqual(float(re.search(r"#define GYRE_ATTENTION_FACTOR (\S+)f\n", header)[1]), report["attention_factor"])
        self.assertNotIn("out", self.succeed_json("frequencies", "--rope", text, "--head-dim", 16, "--c", "g.h"))
        with open(self.path("g.h"), encoding="utf-8") as file:
            self.assertEqual(file.read(), header)

    def test_tables_of_one_program(self):
        """Tables by names of their own stand beside each other and beside gyre.h; two of one name do not pass for one another."""
        for name, theta in (("local", 10000), ("global_2", 1e6)):
            rope = f'{{"rope_theta": {theta}}}'
            self.succeed("frequencies", "--rope", rope, "--head-dim", 8, "--c", f"{name}.h", "--c-name", name)
        self.succeed("frequencies", "--rope", '{"rope_theta": 500}', "--head-dim", 8, "--c", "other.h", "--c-name", "local")
        include = ["-I", str(Path(__file__).parents[2] / "include")]

        def compiles(*files):
            text = "".join(f'#include "{file}"\n' for file in ("gyre/gyre.h", *files))
            text += "const uint64_t *table(void) { return local_frequencies + LOCAL_ROTARY_DIM / 2 - 1; }\n"
            command = ["cc", "-std=c99", "-Wall", "-Werror", "-Wno-unused", *include, "-I", self.directory, "-fsyntax-only", "-x", "c", "-"]
            return subprocess.run(command, input=text, capture_output=True, text=True)

        self.assertEqual(compiles("local.h", "local.h", "global_2.h").stderr, "")
        self.assertIn("--c-name", compiles("local.h", "other.h").stderr)
        for name in ("2", "a b", "a-b", ""):
            self.refuse("--c-name", "frequencies", "--rope", rope, "--head-dim", 8, "--c", "x.h", "--c-name", name)
        self.refuse("--c-name without --c", "frequencies", "--rope", rope, "--head-dim", 8, "--out", "f.npy", "--c-name", "a")
