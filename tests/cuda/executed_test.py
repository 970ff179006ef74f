"""What is counted around a main loop (bench/cuda/executed.py): the shortest way through machine code whose ways are known.

    python executed_test.py
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "cuda"))

import before_after  # noqa: E402  # pylint: disable=wrong-import-position
import executed  # noqa: E402  # pylint: disable=wrong-import-position
import machine_code  # noqa: E402  # pylint: disable=wrong-import-position
import model  # noqa: E402  # pylint: disable=wrong-import-position

# A way that a branch leaves out, a loop that copies, the main loop, which is left by a call that never returns, and one that stores.
KERNEL = """
BRANCH @!P0 BRA `(.L_x_1)
S2R
S2R
.L_x_1:
.L_x_2:
LDGSTS
IADD3
@P1 BRA `(.L_x_2)
.L_x_3:
ISETP
@P0 CALL.REL.NOINC `(.L_x_4)
LDSM
HMMA
BRA `(.L_x_3)
.L_x_4:
BSSY B0, `(.L_x_6)
.L_x_5:
@P3 BRA `(.L_x_7)
MUFU
.L_x_7:
STG
@P2 BRA `(.L_x_5)
BSYNC B0
S2R
.L_x_6:
EXIT
"""


def listing(text):
    lines, address = [], 0
    for line in text.split("\n")[1:-1]:
        line = line.removeprefix("BRANCH ")
        if line.startswith("."):
            lines.append(line)
        else:
            lines.append(f"        /*{address:04x}*/                   {line} ;")
            address += 16
    return "\n".join(lines)


class Executed(unittest.TestCase):

    def setUp(self):
        self.text = listing(KERNEL)
        self.kinds, self.loops, _ = machine_code.instructions(self.text)
        self.main = machine_code.main_loop_of(self.kinds, self.loops)

    def test_branches_calls_and_meetings_are_followed(self):
        following = executed.steps(self.text)
        self.assertEqual(following[0], [1, 3])  # a branch
        self.assertEqual(following[10], [6])  # the main loop's end
        self.assertEqual(following[7], [8, 11])  # how it is left
        self.assertEqual(following[16], [17, 18])  # threads meet after what stands there
        self.assertEqual(following[18], [])

    def test_the_shortest_way_is_counted_and_turns_apart(self):
        found = executed.around(self.text, self.kinds, self.loops, self.main)
        # Before the copies 1; out of the main loop 2, to the stores 1, and from them BSYNC.
        self.assertEqual(found, {"around": 1 + 0 + 3 + 1, "around_turn": 3 + 3})

    def test_a_kernel_without_a_way_to_its_loop_is_none(self):
        cut = self.text.replace("IADD3", "EXIT")
        kinds, loops, _ = machine_code.instructions(cut)
        self.assertEqual(executed.around(cut, kinds, loops, self.main), {})

    def test_loops_of_other_blocks_are_told_for_the_same_rows_and_keys(self):
        # 128 rows and 64 keys a turn, and 128 rows and 32 keys a turn of half the instructions.
        one = model.Loop(512, 128, 64, 8, 8, 211, 100352, around=1000, queries=128 * 128)
        two = model.Loop(256, 64, 32, 4, 8, 211, 50176)
        figures = [before_after.figures(loop, 128, model.A100) for loop in (one, two)]
        self.assertEqual(figures[0]["loop"], 512)
        self.assertEqual(figures[1]["loop"], 512)
        turn = model.cycles(one, model.A100)["turn"]
        self.assertEqual(figures[0]["cycles"], turn * 64)  # turns of 4096 keys
        self.assertEqual(figures[0]["whole"], model.whole(one, 64, model.A100))
        self.assertNotIn("whole", figures[1])

    def test_products_of_gradients_and_of_f32_are_counted_as_many_as_they_are(self):
        self.assertEqual([before_after.products_of(f"backward_{kind}_bf16_d64__cuda") for kind in ("queries", "general_keys", "values")], [3, 3, 2])
        self.assertEqual(before_after.products_of("attention_general_as_stored_bf16_d64__cuda"), 2)
        three = before_after.figures(model.Loop(512, 192, 64, 8, 8, 211, 100352), 128, model.A100, 3)
        self.assertEqual(three["loop"], 512)
        # A warp's turn of 16 rows and 32 keys; twice as many instructions as multiply-adds, or a few more.
        multiply_adds = 2 * 16 * 32 * 64 // 32
        for instructions, cycles in ((4 * multiply_adds, multiply_adds), (multiply_adds + 8, multiply_adds / 2)):
            found = before_after.figures_of_f32(instructions, multiply_adds, 64)
            self.assertEqual(found, {"loop": 2 * instructions, "cycles": cycles * 8 * 128})

    def test_a_table_has_both_where_they_differ(self):
        lines = before_after.table({"a": {"all": 5, "loop": 4}}, {"a": {"all": 3, "loop": 4}, "b": {"all": 7}}).splitlines()
        self.assertEqual(lines[2], "| a | 5 -> 3 |  | 4 |  |  |")
        self.assertEqual(lines[3], "| b | none -> 7 |  |  |  |  |")


if __name__ == "__main__":
    unittest.main()
