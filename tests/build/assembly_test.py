"""What rewrites a kernel's assembly, and what it refuses: cmake/streaming_stores.cmake and cmake/bf16_instructions.cmake.

    python assembly_test.py CMAKE FOLDER
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])


def rewrite(script, lines):
    """The lines that a script leaves, or the error that it stops with."""
    with tempfile.TemporaryDirectory() as folder:
        assembly = pathlib.Path(folder, "kernel.s")
        assembly.write_text("".join(f"\t{line}\n" for line in lines), encoding="utf-8")
        done = subprocess.run([CMAKE, "-D", f"ASSEMBLY={assembly}", "-P", FOLDER / script], capture_output=True, text=True, check=False)
        if done.returncode:
            return " ".join(done.stderr.split())
        return [line.strip() for line in assembly.read_text(encoding="utf-8").splitlines()]


class StreamingStores(unittest.TestCase):
    OUTPUT = "vmovups\t%zmm1, 64(%rbp,%rax)"
    STREAMED = "vmovntps\t%zmm1, 64(%rbp,%rax)"

    def rewritten(self, *lines):
        return rewrite("streaming_stores.cmake", lines)

    def test_stores_to_the_output_go_past_the_caches_and_those_to_the_stack_do_not(self):
        lines = ["pushq\t%rbp", "subq\t$128, %rsp", "movq\t8(%rsp), %rax", "vmovaps\t%ymm3, 32(%rsp)", "vmovdqa\t%ymm2, (%rdi)", self.OUTPUT]
        self.assertEqual(self.rewritten(*lines), [*lines[:4], "vmovntps\t%ymm2, (%rdi)", self.STREAMED])

    def test_a_store_through_a_register_with_an_address_on_the_stack_is_refused(self):
        frames = ((["movq\t%rsp, %rbp"], "rbp"), (["leaq\t64(%rsp), %r10"], "r10"), (["leaq\t(%rsp,%rcx,8), %rbx"], "rbx"),
                  (["movq\t%rsp, %rbp", "leaq\t-32(%rbp), %rsi"], "rsi"), (["movq\t%rdx, %r8", "movq\t%rsp, %rdx"], "r8"),
                  (["addq\t%rsp, %r9"], "r9"), (["cmovneq\t%rsp, %r11"], "r11"))
        stores = ("vmovups\t%ymm0, (%{})", "vmovaps\t%zmm0, -64(%{})", "vmovdqu64\t%zmm17, 32(%{},%rcx)", "vmovups\t%xmm0, (%rcx,%{})",
                  "vextractf128\t$1, %ymm0, (%{})")
        for frame, register, store in [(*frame, stores[0]) for frame in frames] + [(*frames[0], store) for store in stores]:
            with self.subTest(frame=frame, store=store):
                error = self.rewritten(*frame, "vmovups\t%zmm1, (%r15)", store.format(register))
                self.assertIsInstance(error, str)
                self.assertIn(f"%{register} has addresses on the stack", error)

    def test_a_register_has_addresses_on_the_stack_in_its_function_alone(self):
        lines = ["movq\t%rsp, %rbp", "vmovups\t%zmm0, (%rdi)", ".cfi_endproc", self.OUTPUT]
        self.assertEqual(self.rewritten(*lines)[-1], self.STREAMED)
        self.assertIn("%rbp has addresses", self.rewritten(*lines[:2], self.OUTPUT, ".cfi_endproc"))

    def test_vectors_that_are_stored_otherwise_are_refused(self):
        self.assertIn("expected vectors to be stored by vmov", self.rewritten("ret"))
        for store in ("vcvtps2ph\t$0, %zmm0, (%rdi)", "vextractf128\t$1, %ymm0, 16(%rdi)", "vpmovusdw\t%zmm0, (%rdi)"):
            self.assertIn("expected vectors to be stored by vmov", self.rewritten(self.OUTPUT, store))


class Bf16Instructions(unittest.TestCase):
    def rewritten(self, *lines):
        return rewrite("bf16_instructions.cmake", lines)

    def test_what_stands_for_an_instruction_becomes_it(self):
        given = ["sdot\tv0.4s, v1.16b, v2.16b", "fcvtn\tv3.4h, v4.4s", "fcvtn2\tv3.8h, v5.4s", "fcvt\th1, s2", "str\tq0, [x29, #16]"]
        self.assertEqual(self.rewritten(*given),
                         [".arch\tarmv8.2-a+bf16", "bfmmla\tv0.4s, v1.8h, v2.8h", "bfcvtn\tv3.4h, v4.4s", "bfcvtn2\tv3.8h, v5.4s",
                          "bfcvt\th1, s2", given[-1]])

    def test_what_is_left_of_f16_and_of_bytes_is_refused(self):
        for line in ("udot\tv0.4s, v1.16b, v2.16b", "sdot\tv0.2s, v1.8b, v2.8b", "sdot\tv0.4s, v1.16b, v2.4b[1]", "fcvtl\tv0.4s, v1.4h",
                     "fcvt\ts1, h2", "fadd\tv0.8h, v1.8h, v2.8h"):
            with self.subTest(line):
                self.assertIn("no instruction of FEAT_BF16 is known for", self.rewritten("sdot\tv0.4s, v1.16b, v2.16b", line))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
