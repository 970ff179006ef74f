"""cmake/kernel.py makes one kernel of a build, with the stored knobs or others, and refuses what is not there.

    python kernel_test.py BUILD
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "kernel.py"
KERNEL = "rotary_f32_half"
NAMES = """
#include <dlfcn.h>
#include <gyre/kernels.h>
#include <stdio.h>
void *gyre_kernel_malloc(void *context, size_t bytes) { (void)context, (void)bytes; return NULL; }
void gyre_kernel_free(void *context, void *memory) { (void)context, (void)memory; }
int main(int count, char **arguments) {
    void *object = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    const gyre_kernel_library *library = object ? dlsym(object, "gyre_loadable_kernels") : NULL;
    if (!library) return 1;
    for (int i = 0; i < (int)library->count; i++) puts(library->kernels[i].name);
    return 0;
}
"""


class Kernel(unittest.TestCase):
    build = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gyre-kernel-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        with open(self.build / "kernels" / "recipes.json", encoding="utf-8") as file:
            self.recipes = json.load(file)
        self.target = next(row["target"] for row in self.recipes["kernels"] if f"{row['operation']}_{row['variant']}" == KERNEL)

    def make(self, *words):
        line = [sys.executable, SCRIPT, self.build, *words, "--target", self.target]
        return subprocess.run(line, capture_output=True, text=True, cwd=self.folder)

    def made(self, name, *words):
        done = self.make(KERNEL, "--out", name, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"{KERNEL}__{self.target}", done.stdout)
        return self.folder / name

    def test_it_holds_the_kernel(self):
        library = self.made("one.so")
        source, program = self.folder / "host.c", self.folder / "host"
        source.write_text(NAMES)
        subprocess.check_call([self.recipes["compiler"], "-rdynamic", "-I", self.recipes["include"], source, "-ldl", "-o", program])
        said = subprocess.check_output([program, library], text=True)
        self.assertIn(f"{KERNEL}__{self.target}", said)

    def test_knobs_change_the_code(self):
        stored = self.made("stored.so").read_bytes()
        self.assertEqual(stored, self.made("again.so").read_bytes())
        self.assertNotEqual(stored, self.made("wide.so", "lanes=32").read_bytes())

    def refuse(self, said, *words):
        done = self.make(*words)
        self.assertEqual(done.returncode, 1)
        self.assertIn(said, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_mistakes(self):
        self.refuse("kernel: 'rotary_f33_half'; expected one of rotary_f32_half, ", "rotary_f33_half")
        self.refuse("knob: 'lanees'; expected one of lanes", KERNEL, "lanees=8")
        self.refuse("knob: 'lanes=many'; expected name=value", KERNEL, "lanes=many")
        self.refuse("knob: 'lanes=4096'; expected ", KERNEL, "lanes=4096")
        self.refuse("means 2 kernels; expected one of rotary_f32_half", "rotary_f32_[hi]*")


if __name__ == "__main__":
    Kernel.build = pathlib.Path(sys.argv.pop()).resolve()
    unittest.main()
