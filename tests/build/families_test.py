"""generators/families.json agrees with itself, and the table of include/gyre/README.md with it.

    python families_test.py SOURCES
"""

import json
import pathlib
import re
import sys
import unittest

TYPES = re.compile(r"\b(?:f32|f16|bf16)\b")
# The table's columns: a word of `machines`, and the target that has the rest.
COLUMNS = {
    "x86_64_generic, avx2, avx512": ("cpu", None),
    "x86_64_amx": ("amx", "avx512"),
    "arm_64_neon, arm_32_neon": ("cpu", None),
    "arm_64_bf16": ("bfmmla", "arm_64_neon"),
    "cuda": ("cuda", None),
}
IN_F32 = {"backward"}  # operations that compute in f32, whatever the tensors' types


class Families(unittest.TestCase):
    sources = None

    def setUp(self):
        table = json.loads((self.sources / "generators" / "families.json").read_text())
        self.families, self.traits, self.head_dims = table["families"], table["traits"], table["head_dims"]
        text = (self.sources / "include" / "gyre" / "README.md").read_text()
        lines = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in text.splitlines() if line.startswith("|")]
        self.columns = text.split("| |", 1)[1].split("\n", 1)[0].strip("| ").split(" | ")
        self.rows = {line[0]: line[1:] for line in lines if len(line) == len(self.columns) + 1}

    def types(self, label, machine):
        rows = [row for row in self.families if row.get("support") == label]
        return {word for row in rows for word in row["machines"].get(machine, "").split()}, rows[0]["operation"]

    def test_the_documented_types_are_those_that_are_made(self):
        self.assertEqual(self.columns, list(COLUMNS))
        labels = {row["support"] for row in self.families if "support" in row}
        self.assertGreaterEqual(len(labels), 8)
        for label in labels:
            found = [name for name in self.rows if name.startswith(label)]
            self.assertEqual(len(found), 1, label)
            for column, cell in zip(self.columns, self.rows[found[0]]):
                machine, rest = COLUMNS[column]
                made, operation = self.types(label, machine)
                with self.subTest(row=found[0], column=column, cell=cell):
                    if not made:
                        self.assertEqual(cell, f"as {rest}" if rest else "no")
                    elif operation not in IN_F32:
                        self.assertEqual(set(TYPES.findall(cell)), made)

    def test_the_documented_head_sizes_on_devices_are_those_that_are_made(self):
        cuda = self.columns.index("cuda")
        sizes = {name: {int(n) for n in re.findall(r"\b\d{2,3}\b", TYPES.sub("", cells[cuda]))} for name, cells in self.rows.items()}
        of = lambda label: next(found for name, found in sizes.items() if name.startswith(label))
        made = set(self.head_dims["cuda"])
        self.assertEqual(of("attention"), made)
        self.assertEqual(of("decoding"), set())  # the same

    def test_names_are_different_and_families_that_are_dispatched_to_have_words(self):
        names = [(row["operation"], row["variant"]) for row in self.families]
        self.assertEqual(len(names), len(set(names)))
        for row in self.families:
            with self.subTest(**{key: row[key] for key in ("operation", "variant")}):
                self.assertEqual("calls" in row, row["operation"] == "attention")
                parameters = row.get("parameters", "")
                true = {*re.findall(r"(\w+)=true", parameters), *re.findall(r"cache=(\w+)", parameters)}
                if row["operation"] == "attention":
                    self.assertLessEqual(true, set(self.traits))


if __name__ == "__main__":
    Families.sources = pathlib.Path(sys.argv.pop(1))
    unittest.main()
