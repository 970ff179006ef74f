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

    def test_riscv(self):
        far = self.of("add\tsp,sp,-48", "add\tsp,sp,-2016", "auipc\tra,0x0", "jalr\tra # 8 <f+0x8>", "add\tsp,sp,2032", "j\t40 <.L2>", "ret")
        self.assertEqual((far.stack, far.dynamic, far.calls, far.indirect), (2064, [], set(), False))
        for way in ("sub\tsp,sp,a0", "mv\tsp,s0", "add\tsp,sp,a5", "and\tsp,sp,-64"):
            self.assertEqual(self.of("add\tsp,sp,-16", way).dynamic, [way])
        self.assertEqual(self.of("jal\tra,0 <g>", "j\t8 <h>").calls, {"g", "h"})
        for way in ("jalr\ta5", "jr\ta5", "jalr\tra", "jr\tt1"):
            self.assertTrue(self.of(way).indirect, way)
        named = functions(listing("auipc\tt1,0x0") + "\t\t\t0: R_RISCV_CALL_PLT\tg\n\n00000004 <.L1>:\n" + "\t\t\t4: R_RISCV_RVC_JUMP\t.L1\n")
        self.assertEqual((set(named), named["f"].calls), ({"f"}, {"g"}))


if __name__ == "__main__":
    unittest.main()
