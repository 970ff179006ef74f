"""gyre new-generator: the files that it writes, and what it refuses. The test example:new_generator builds them."""

import json
import os
import subprocess

from harness import GyreTest


class NewGenerator(GyreTest):
    def test_files(self):
        said = self.succeed("new-generator", "swiglu")
        self.assertIn("cmake -S swiglu -B swiglu/build", said)
        files = sorted(os.listdir(self.path("swiglu")))
        self.assertEqual(files, ["CMakeLists.txt", "aarch64.cmake", "main.cpp", "swiglu_generator.cpp", "swiglu_knobs.json"])
        for name in files:
            with open(self.path(f"swiglu/{name}"), encoding="utf-8") as file:
                text = file.read()
            self.assertNotIn("%NAME%", text)
            if name != "swiglu_knobs.json":
                self.assertIn("swiglu", text)
        with open(self.path("swiglu/swiglu_knobs.json"), encoding="utf-8") as file:
            self.assertIn("rows", json.load(file)["knobs"])

    def test_another_folder(self):
        self.succeed("new-generator", "gated_2", "--out", "a/b")
        self.assertIn("gated_2_generator.cpp", os.listdir(self.path("a/b")))

    def test_a_folder_with_a_blank(self):
        said = self.succeed("new-generator", "swiglu", "--out", "it's mine")
        self.assertIn("cmake -S 'it'\\''s mine' -B 'it'\\''s mine/build' ", said)

    def test_nothing_is_left_of_what_cannot_be_written(self):
        shell = f'ulimit -f 0; trap "" XFSZ; exec "{self.program}" new-generator swiglu'
        done = subprocess.run(["sh", "-c", shell], cwd=self.directory, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("cannot be written", done.stderr)
        self.assertEqual(os.listdir(self.directory), [])

    def test_refused(self):
        for name in ("2nd", "My", "a-b", "a b", "", "gyre"):
            self.refuse("small letters, digits and _", "new-generator", name)
        self.refuse("NAME", "new-generator")
        self.succeed("new-generator", "twice")
        before = os.path.getmtime(self.path("twice/main.cpp"))
        self.refuse("twice is there already", "new-generator", "twice")
        self.assertEqual(os.path.getmtime(self.path("twice/main.cpp")), before)
