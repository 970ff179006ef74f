"""Cycles of single instructions, as the manual's tables have them."""
import unittest

from cortex_m4 import cycles, registers


class Cycles(unittest.TestCase):
    def test_arithmetic(self):
        for text, count in {'adds\tr0, r1, r2': 1, 'vmul.f32\ts0, s1, s2': 1, 'vfma.f32\ts0, s1, s2': 3, 'vmla.f32\ts0, s1, s2': 3,
                            'vdiv.f32\ts0, s1, s2': 14, 'vsqrt.f32\ts0, s1': 14, 'vmov\tr5, s8': 1, 'it\tlt': 0}.items():
            self.assertEqual(cycles(text), count, text)

    def test_memory(self):
        for text, count in {'ldr\tr0, [r1]': 2, 'vldr\ts0, [r1]': 2, 'str\tr0, [r1]': 1, 'vstr\ts0, [r1]': 2, 'ldrd\tr0, r1, [r2]': 3,
                            'vldmia\tr0!, {s0-s7}': 9, 'ldmia.w\tr0, {r1, r2, r3}': 4, 'pop\t{r4, pc}': 5}.items():
            self.assertEqual(cycles(text), count, text)
        self.assertEqual(cycles('vldr\ts0, [r1, #4]', before='vldr\ts1, [r1]'), 1)

    def test_results_that_are_waited_for(self):
        product = 'vmul.f32\ts0, s1, s2'
        self.assertEqual(cycles(product, following='vadd.f32\ts3, s3, s0'), 2)
        self.assertEqual(cycles(product, following='vstr\ts0, [r0]'), 2)
        self.assertEqual(cycles(product, following='vadd.f32\ts0, s3, s4'), 1)

    def test_lists(self):
        self.assertEqual(registers('vpush\t{s16-s31}'), 16)
        self.assertEqual(registers('push\t{r4, r5, lr}'), 3)


if __name__ == '__main__':
    unittest.main()
