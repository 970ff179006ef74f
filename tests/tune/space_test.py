"""Search spaces agree with the generators: every knob exists, defaults are the same, and each refuses the same points."""

import filecmp
import os
import tempfile
import unittest

import numpy as np
from child import run
from harness import HANGING_SECONDS, TuneTest
from recipes import Recipe, Recipes
from space import declaration_path, read_declaration, space_of


class Spaces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.recipes = Recipes(TuneTest.build)
        cls.spaces = {}  # by kernel: forming a large one takes a second

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gyre-space-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.random = np.random.default_rng(1)

    def first(self, operation, matrix_tiles=0, **parameters):
        """A kernel of the operation with these parameters; on matrix tiles, or on vectors and the best such target."""
        for kernel in self.recipes.kernels:
            if (kernel.operation, kernel.variables()["matrix_tiles"]) != (operation, matrix_tiles):
                continue
            if parameters.items() <= kernel.parameters.items() and "score" not in kernel.parameters:
                return kernel
        return None

    def declaration(self, operation):
        path = declaration_path(self.recipes.generators, operation)
        return read_declaration(path), path

    def space(self, recipe):
        if recipe.name not in self.spaces:
            declaration, path = self.declaration(recipe.operation)
            self.spaces[recipe.name] = space_of(declaration, path, recipe.variables())
        return self.spaces[recipe.name]

    def generate(self, recipe, knobs, emitted="object"):
        """Makes k.o, or k.stmt, what Halide has lowered. The limits are against hangs alone."""
        words = [
            recipe.generator,
            "-g",
            recipe.operation,
            "-f",
            "k",
            "-o",
            self.folder,
            "-e",
            emitted,
            f"target={recipe.halide_target}",
            *(f"{key}={value}" for key, value in {**recipe.parameters, **knobs}.items()),
        ]
        return run(words, HANGING_SECONDS, 4096)

    def each(self):
        """A kernel of each kind, with its space."""
        kinds = [self.first("attention", general="false"), self.first("attention", general="true")]
        kinds += [self.first("attention", matrix_tiles=1), self.first("rotary"), self.first("angles")]
        kinds += [self.first("backward"), self.first("linear"), self.first("outer")]
        yield from ((recipe, self.space(recipe)) for recipe in kinds if recipe)

    def test_every_knob_is_a_parameter_of_the_generator(self):
        """A generator names the first parameter, in the order of their names, that it does not know."""
        first, last = "a_nonsense", "zz_nonsense"
        for recipe, space in self.each():
            with self.subTest(recipe.name):
                self.assertTrue(all(first < name < last for name in space.names))
                for unknown in ({last: 1}, {last: 1, first: 1}):
                    made = self.generate(recipe, {**space.defaults, **unknown})
                    self.assertIn(f"no GeneratorParam named: {min(unknown)}\n", made.err)

    def test_defaults_are_the_generators(self):
        for recipe, space in self.each():
            with self.subTest(recipe.name):
                if space.violated(space.defaults):
                    self.assertFalse(self.generate(recipe, {}).ok)
                    continue
                self.assertTrue(self.generate(recipe, {}, "stmt").ok)
                first = os.path.join(self.folder, "k.stmt")
                os.rename(first, first + ".implied")
                self.assertTrue(self.generate(recipe, space.defaults, "stmt").ok)
                self.assertTrue(filecmp.cmp(first, first + ".implied", shallow=False))

    def test_what_a_constraint_forbids_is_refused_by_the_generator(self):
        for recipe, space in self.each():
            for condition in space.constraints:
                violating = self.violating(space, condition)
                with self.subTest(recipe.name, constraint=condition.text):
                    if violating:  # not of every kernel, such as the one that speaks of general
                        made = self.generate(recipe, violating)
                        self.assertFalse(made.ok, violating)
                        self.assertIn("expected", made.err)

    def violating(self, space, condition):
        """A point that violates this constraint alone, of some thousands; None if there is none."""
        columns = {name: self.random.choice(values, 3000) for name, values in space.values.items()}
        known = {**space.variables, **columns}
        found = np.logical_not(condition(known)) & np.ones(3000, bool)
        for other in space.constraints:
            if other is not condition:
                found &= np.asarray(other(known), bool)
        at = np.flatnonzero(found)
        return {name: int(values[at[0]]) for name, values in columns.items()} if len(at) else None

    def test_a_sample_of_valid_points_builds(self):
        for recipe, space in self.each():
            for row in self.random.permutation(len(space))[:2]:
                with self.subTest(recipe.name, knobs=space.point(row)):
                    made = self.generate(recipe, space.point(row))
                    self.assertTrue(made.ok, made.text())

    def shipped(self, operation, halide_target, **parameters):
        """The space of a kernel that this build need not have."""
        recipe = Recipe(operation, "", "", "", halide_target, parameters, {})
        path = declaration_path(self.recipes.generators, operation)
        return space_of(read_declaration(path), path, recipe.variables())

    def test_points_that_do_not_build_are_not_searched(self):
        """A block of one step of keys has no loop for the schedule on tiles to bound."""
        tiles = self.shipped("attention", "x86-64-linux-avx512-avx512_sapphirerapids", head_dim="64", general="false")
        self.assertTrue(len(tiles))
        column = tiles.names.index("key_block")
        self.assertGreater(min(tiles.values["key_block"][rank] for rank in set(tiles.points[:, column])), 32)

    def test_points_that_take_the_compiler_minutes_are_not_searched(self):
        """Unrolled loops of rotary: at most 16 vectors at once."""
        for target, width in (("x86-64-linux", 4), ("x86-64-linux-avx-avx2", 8), ("x86-64-linux-avx512_skylake", 16)):
            space = self.shipped("rotary", target)
            for row in range(len(space)):
                point = space.point(row)
                if point["usual_lengths"]:
                    self.assertLessEqual(max(point["lanes"], width) * point["rows"], 16 * width, point)

    def points(self, space, count):
        for _ in range(count):
            yield {name: int(self.random.choice(values)) for name, values in space.values.items()}

    def test_the_space_holds_exactly_the_points_that_hold(self):
        recipe = self.first("attention") or self.first("rotary")
        space = self.space(recipe)
        for knobs in self.points(space, 300):
            holds = all(bool(condition({**space.variables, **knobs})) for condition in space.constraints + space.worthwhile)
            self.assertEqual(space.row(knobs) is not None, holds, knobs)
        row = int(self.random.integers(len(space)))
        self.assertEqual(space.row(space.point(row)), row)
        self.assertEqual(space.nearest(space.point(row), np.zeros(len(space), bool), self.random), row)
