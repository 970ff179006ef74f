"""Python's structures are those of the C headers: sizes, offsets, kinds of fields, and defaults, as a C compiler has them.

    python structures_test.py C_COMPILER INCLUDE_DIRECTORY
"""

import ctypes
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from gyre import _structures as s

COMPILER, INCLUDE = sys.argv[1:3]
STRUCTURES = {
    "gyre_tensor": s.Tensor, "gyre_context_options": s.ContextOptions, "gyre_rope": s.RopeFields,
    "gyre_frequency_rule": s.FrequencyRule, "gyre_rotary_args": s.RotaryArgs, "gyre_rotary_qk_args": s.RotaryQkArgs,
    "gyre_cache_append_args": s.CacheAppendArgs, "gyre_score_input": s.ScoreInput, "gyre_attention_args": s.AttentionArgs,
    "gyre_attention_backward_args": s.AttentionBackwardArgs, "gyre_attention_merge_args": s.AttentionMergeArgs,
    "gyre_linear_attention_args": s.LinearAttentionArgs, "gyre_linear_attention_backward_args": s.LinearAttentionBackwardArgs,
    "gyre_target_info": s.TargetInfo, "gyre_kernel_info": s.KernelInfo,
}
DEFAULTS = {name: re.sub("_(args|options|rule)$", "", name) + "_defaults" for name in STRUCTURES
            if issubclass(STRUCTURES[name], s.Structure)}


def kind(field):
    """Returns what _Generic tells of a field in C; nothing of structures and arrays."""
    kinds = {ctypes.c_float: "float", ctypes.c_double: "double", ctypes.c_int: "int", ctypes.c_int64: "int64",
             ctypes.c_uint32: "unsigned", ctypes.c_uint64: "uint64", ctypes.c_char_p: "text"}
    return kinds.get(field, "other")


def values(structure):
    """Returns the values of all fields, without the bytes between them, which a compiler may leave as they are."""
    def value(each):
        if isinstance(each, ctypes.Structure):
            return values(each)
        return list(each) if isinstance(each, ctypes.Array) else each if not hasattr(each, "_type_") else bool(each)

    return {field[0]: value(getattr(structure, field[0])) for field in structure._fields_}


def program():
    lines = ["#include <gyre/gyre.h>", "#include <stdio.h>", "#include <stddef.h>",
             '#define KIND(x) _Generic((x), float: "float", double: "double", int: "int", int64_t: "int64", '
             'unsigned: "unsigned", uint64_t: "uint64", const char *: "text", default: "other")',
             "static void bytes(const void *p, size_t n) { for (size_t i = 0; i < n; i++) "
             'printf("%02x", ((const unsigned char *)p)[i]); putchar(10); }', "int main(void) {"]
    for name, structure in STRUCTURES.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for field, *_ in structure._fields_:
            member = f"(({name} *)0)->{field}"
            lines.append(f'printf("{name}.{field} %zu %zu %s\\n", offsetof({name}, {field}), sizeof({member}), '
                         f"KIND({member}));")
    for name, defaults in DEFAULTS.items():
        lines.append(f'{{ {name} d = {defaults}(); printf("{name}= "); bytes(&d, sizeof d); }}')
    return "\n".join([*lines, "return 0; }\n"])


class Structures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            source, binary = pathlib.Path(folder, "layout.c"), pathlib.Path(folder, "layout")
            source.write_text(program(), encoding="utf-8")
            subprocess.check_call([COMPILER, "-std=c11", "-I", INCLUDE, source, "-o", binary])
            lines = subprocess.check_output([binary], text=True).splitlines()
        cls.found = {words[0]: words[1:] for words in map(str.split, lines)}

    def test_sizes_and_offsets(self):
        for name, structure in STRUCTURES.items():
            self.assertEqual(ctypes.sizeof(structure), int(self.found[name][0]), name)
            for field, its_type in ((f[0], f[1]) for f in structure._fields_):
                offset, size, its_kind = self.found[f"{name}.{field}"]
                place = getattr(structure, field)
                self.assertEqual((place.offset, place.size), (int(offset), int(size)), f"{name}.{field}")
                if kind(its_type) != "other" or its_kind in ("float", "double", "text"):
                    # An enumeration is int or unsigned, as the compiler likes.
                    same = {kind(its_type), its_kind} in ({kind(its_type)}, {"int", "unsigned"})
                    self.assertTrue(same, f"{name}.{field}: {its_kind} in C, {its_type} in Python")

    def test_no_field_is_missing(self):
        headers = "\n".join(p.read_text(encoding="utf-8") for p in pathlib.Path(INCLUDE, "gyre").glob("*.h"))
        headers = re.sub(r"/\*.*?\*/", "", headers, flags=re.S)
        for name, structure in STRUCTURES.items():
            body = re.search(r"\{([^{}]*)\}\s*" + name + ";", headers)[1]
            names = [re.sub(r"\[.*?\]", "", part).split("*")[-1].split()[-1] for line in body.split(";") if line.strip()
                     for part in line.split(",")]
            self.assertEqual(names, [f[0] for f in structure._fields_], name)

    def test_defaults(self):
        for name in DEFAULTS:
            structure = STRUCTURES[name]
            if name == "gyre_frequency_rule":  # has the address of a word
                continue
            given = structure.from_buffer_copy(bytes.fromhex(self.found[name + "="][0]))
            self.assertEqual(values(structure()), values(given), name)
        rule = s.FrequencyRule()
        self.assertEqual((rule.rope_type, rule.rope_theta, rule.truncate), (b"default", 10000.0, 1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
