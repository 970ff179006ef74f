"""What runtime/embedded/bounds.md states, proved from the library's machine code: no recursion, no stack of variable size, and as much
stack as *_STACK says.

    python bounds_test.py OBJDUMP LIBRARY HEADER
"""

import re
import subprocess
import sys
import unittest

from machine_code import functions

# Which kernels a function calls through the kernel's struct: the only calls by a pointer.
THROUGH_A_POINTER = {"gyre_embedded_attend": "attention", "gyre_embedded_rotary_unchecked": "rotary"}
PREFIX = "gyrekernel_embedded_"
MOST_TO_SPARE = 224  # bytes of a constant above what a call takes
ELSEWHERE = re.compile(r"(?:mem(?:set|cpy)|__aeabi_\w+|__[a-z]+(?:df|di|si)[a-z0-9]*)$")


class BoundsTest(unittest.TestCase):
    objdump = library = header = None

    @classmethod
    def setUpClass(cls):
        listing = subprocess.run([cls.objdump, "-dr", "--no-show-raw-insn", cls.library], capture_output=True, text=True, check=True).stdout
        cls.functions = functions(listing)
        cls.entries = {name for name in cls.functions if name.startswith(PREFIX) and name.endswith("_argv")}

    def calls(self, name, kernel=None):
        """Functions that one calls: through a pointer those of `kernel`, or of any."""
        function = self.functions[name]
        called = {call.removeprefix(".text.") for call in function.calls}
        if function.indirect:
            self.assertIn(name, THROUGH_A_POINTER, "calls through a pointer")
            entries = {entry for entry in self.entries if entry.startswith(PREFIX + THROUGH_A_POINTER[name])}
            called |= entries if kernel is None else {f"{PREFIX}{kernel}_argv"}
        for call in called - set(self.functions):
            self.assertRegex(call, ELSEWHERE, f"{name} calls it")
        return called & set(self.functions)

    def stack(self, name, kernel=None, callers=()):
        """Bytes that a call takes at most, with all that it calls but functions of elsewhere."""
        self.assertNotIn(name, callers, f"recursion: {' -> '.join(callers)} -> {name}")
        below = [self.stack(call, kernel, (*callers, name)) for call in self.calls(name, kernel)]
        return self.functions[name].stack + max(below, default=0)

    def test_everything_is_seen(self):
        self.assertGreater(len(self.entries), 2)
        for name in THROUGH_A_POINTER:
            self.assertTrue(self.functions[name].indirect, name)
        for entry in self.entries:
            self.assertIn(entry.removesuffix("_argv"), self.calls(entry))
            self.assertGreater(self.functions[entry.removesuffix("_argv")].stack, 0, entry)

    def test_stacks_have_constant_sizes(self):
        self.assertEqual({name: function.dynamic for name, function in self.functions.items() if function.dynamic}, {})

    def test_nothing_is_recursive(self):
        for name in self.functions:
            self.stack(name)

    def test_constants(self):
        constants = dict(re.findall(r"#define GYRE_(\w+)_STACK (\d+)", self.header))
        kernels = {entry.removeprefix(PREFIX).removesuffix("_argv") for entry in self.entries}
        self.assertEqual({name.lower() for name in constants}, kernels)
        for name, constant in constants.items():
            operation = name.split("_")[0].lower()
            taken = self.stack(f"gyre_embedded_{operation}", name.lower())
            print(f"{name.lower()}: {taken} of {constant} bytes of stack")
            self.assertLessEqual(int(constant), 4096, name)
            self.assertLessEqual(taken, int(constant), name)
            self.assertLessEqual(int(constant), taken + MOST_TO_SPARE, name)


if __name__ == "__main__":
    BoundsTest.objdump, BoundsTest.library = sys.argv[1:3]
    with open(sys.argv[3], encoding="utf-8") as file:
        BoundsTest.header = file.read()
    unittest.main(argv=sys.argv[:1])
