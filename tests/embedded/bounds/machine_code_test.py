"""That machine_code.py sees what bounds_test.py is to refuse.

    python machine_code_test.py
"""

import unittest

from machine_code import functions


def listing(*instructions):
    return "00000000 <f>:\n" + "".join(f"   {4 * i:x}:\t{text}\n" for i, text in enumerate(instructions))


class MachineCodeTest(unittest.TestCase):
    def of(self, *instructions):
        return functions(listing(*instructions))["f"]

    def test_frames(self):
        self.assertEqual(self.of("push\t{r4, r5, lr}", "sub\tsp, #12", "add\tsp, #12", "pop\t{r4, r5, pc}").stack, 24)
        self.assertEqual(self.of("stmdb\tsp!, {r4, lr}", "vpush\t{d8-d11}", "subw\tsp, sp, #2328\t@ 0x918").stack, 2368)
        self.assertEqual(self.of("stp\tx29, x30, [sp, #-96]!", "sub\tsp, sp, #0x10, lsl #12", "sub\tsp, sp, #0x20").stack, 65664)
        aligned = self.of("push\t{r4, r7, lr}", "mov\tr4, sp", "bfc\tr4, #0, #6", "mov\tsp, r4", "subs\tr4, r7, #28", "mov\tsp, r4")
        self.assertEqual((aligned.stack, aligned.dynamic), (75, []))

    def test_variable_sizes(self):
        for way in ("sub\tsp, sp, r3", "sub.w\tsp, sp, r3", "mov\tsp, r3", "sub\tsp, x29, x3", "and\tsp, x9, #0xfffffffffffffff0"):
            self.assertEqual(self.of("push\t{r7, lr}", way).dynamic, [way.strip()], way)

    def test_calls(self):
        self.assertEqual(self.of("bl\t0 <g>", "b.w\t10 <h>", "b.n\t4 <f+0x4>").calls, {"g", "h"})
        self.assertTrue(self.of("blx\tr3").indirect)
        self.assertTrue(self.of("bx\tr3").indirect)
        self.assertTrue(self.of("br\tx1").indirect)
        self.assertFalse(self.of("bx\tlr").indirect)


if __name__ == "__main__":
    unittest.main()
