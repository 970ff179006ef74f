"""Files that gyre must not accept."""

import os

import numpy as np

from harness import GyreTest


class RefusedFiles(GyreTest):
    def setUp(self):
        super().setUp()
        self.x = self.normal(1, 2, 3, 8)
        self.save("good.npy", self.x)

    def refuse_x(self, naming, name, data=None):
        if data is not None:
            with open(self.path(name), "wb") as file:
                file.write(data)
        self.refuse(f"--x {name} {naming}", "rotary", "--x", name, "--out", "y.npy")

    def bytes_of(self, array, version=(1, 0)):
        with open(self.path("scratch"), "wb+") as file:
            np.lib.format.write_array(file, array, version)
            file.seek(0)
            data = file.read()
        os.remove(self.path("scratch"))
        return data

    def test_missing(self):
        self.refuse_x("no such file", "missing.npy")

    def test_a_directory(self):
        os.mkdir(self.path("folder"))
        self.refuse_x("not a file", "folder")

    def test_empty(self):
        self.refuse_x("not an .npy file", "empty.npy", b"")

    def test_not_npy(self):
        self.refuse_x("not an .npy file", "text.npy", b"1 2 3\n4 5 6\n")

    def test_unknown_version(self):
        for version in (0, 4, 9):
            data = self.bytes_of(self.x, (2, 0)).replace(b"NUMPY\x02", b"NUMPY" + bytes([version]))
            self.refuse_x(f"version {version}", "version.npy", data)

    def test_truncated_anywhere(self):
        for version in ((1, 0), (2, 0)):
            data = self.bytes_of(self.x, version)
            for length in (8, 9, 11, 40, 127, 129, len(data) - 1):
                self.refuse_x("truncated", "short.npy", data[:length])

    def test_too_long(self):
        self.refuse_x("too long", "long.npy", self.bytes_of(self.x) + b"\0")

    def test_a_header_longer_than_the_file(self):
        self.refuse_x("truncated", "huge.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}")

    def test_malformed_headers(self):
        good = self.bytes_of(self.x)
        header = good[10:128].decode()
        for wrong in (
            "{",
            "",
            "{}",
            "[]",
            header.replace("'shape'", "'form'"),
            header.replace("'fortran_order': False, ", ""),
            header.replace("False", "Maybe"),
            header.replace("(1, 2, 3, 8)", "(1, -2, 3, 8)"),
            header.replace("(1, 2, 3, 8)", "(1, 2.0, 3, 8)"),
            header.replace("(1, 2, 3, 8)", "48"),
            header.replace("'<f4'", "'<f4"),
            header.replace("8), }", "8)"),
        ):
            data = good[:8] + len(wrong).to_bytes(2, "little") + wrong.encode() + self.x.tobytes()
            self.refuse_x("", "header.npy", data)

    def test_headers_of_megabytes(self):
        good = self.bytes_of(self.x)[10:128].decode()
        for naming, header in (
            ("dimensions", good.replace("(1, 2, 3, 8)", "(" + "1," * (2 << 20) + ")")),
            ("more than 64 dimensions", good.replace("(1, 2, 3, 8)", "(1, 2, 3, 8" + ", 1" * 61 + ")")),
            ("malformed", good.replace("(1, 2, 3, 8)", "(" + "1" * (4 << 20) + ")")),
            ("malformed", good.replace("<f4", "f" * (4 << 20))),
            ("malformed", good.replace("shape", "s" * (4 << 20))),
            ("two entries 'shape'", good.replace("'shape'", "'shape': (1,), " * (1 << 18) + "'shape'")),
        ):
            data = b"\x93NUMPY\x02\x00" + len(header).to_bytes(4, "little") + header.encode() + self.x.tobytes()
            self.refuse_x(naming, "header.npy", data)

    def test_headers_that_mean_two_things(self):
        good = self.bytes_of(self.x)
        header = good[10:128].decode()
        for naming, wrong in (
            ("two entries 'shape'", header.replace("'shape'", "'shape': (2, 1, 3, 8), 'shape'")),
            ("two entries 'descr'", header.replace("'descr'", "'descr': '<f8', 'descr'")),
            ("malformed", header.rstrip() + "{'shape': (2, 1, 3, 8)}"),
            ("malformed", header.rstrip() + "\0{'shape': (2, 1, 3, 8)}"),
        ):
            data = good[:8] + len(wrong).to_bytes(2, "little") + wrong.encode() + self.x.tobytes()
            self.refuse_x(naming, "header.npy", data)

    def test_a_shape_whose_size_overflows(self):
        for shape in ((1 << 62, 4, 1, 1), (1 << 32, 1 << 32, 1, 1), (10**30, 1, 1, 1)):
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n"
            self.refuse_x(
                "", "overflow.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
            )

    def test_fortran_order(self):
        self.refuse_x("Fortran", "fortran.npy", self.bytes_of(np.asfortranarray(self.x)))

    def test_big_endian(self):
        self.refuse_x("big-endian", "endian.npy", self.bytes_of(self.x.astype(">f4")))

    def test_unsupported_types(self):
        for dtype in ("complex64", "uint8", "int16", "U3", "longdouble"):
            self.refuse_x("elements of type", "type.npy", self.bytes_of(self.x.astype(dtype)))

    def test_expected_types_are_the_options(self):
        """Of a type that no option takes."""
        q = self.save("q.npy", self.normal(1, 2, 4, 8))
        for option, expected in (("--mask", "expected bool"), ("--bias", "expected float16, float32 or float64"), ("--positions", "expected int32 or int64")):
            bad = self.save("bad.npy", np.ones((4, 4), np.uint8))
            command = ("rotary", "--x", q, "--out", "o.npy") if option == "--positions" else ("attention", "--q", q, "--k", q, "--v", q, "--out", "o.npy")
            self.refuse(f"{option} bad.npy elements of type '|u1' {expected}", *command, option, bad)

    def test_a_structured_type(self):
        self.refuse_x("structured", "struct.npy", self.bytes_of(np.zeros(3, [("a", "f4"), ("b", "i4")])))

    def test_an_archive(self):
        np.savez(self.path("archive.npz"), x=self.x)
        self.refuse_x("not an .npy file", "archive.npz")

    def test_a_name_with_a_line_break_is_still_one_line(self):
        self.refuse("--x", "rotary", "--x", "two\nlines.npy", "--out", "y.npy")

    def test_outputs_that_cannot_be(self):
        os.mkdir(self.path("folder"))
        for out in ("nowhere/y.npy", "folder", "folder/", "good.npy/y.npy", "/dev/null"):
            self.refuse(f"--out {out}", "rotary", "--x", "good.npy", "--out", out)
        for name in "qkv":
            self.save(name + ".npy", self.x)
        tensors = ["attention", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy"]
        self.refuse("--lse nowhere/l.npy", *tensors, "--out", "o.npy", "--lse", "nowhere/l.npy")
        self.refuse("--lse o.npy", *tensors, "--out", "o.npy", "--lse", "o.npy")

    def test_two_outputs_that_are_one_file(self):
        for name in "qkv":
            self.save(name + ".npy", self.x)
        os.mkdir(self.path("folder"))
        os.symlink("o.npy", self.path("link.npy"))
        os.symlink("link.npy", self.path("link of a link.npy"))
        os.symlink(".", self.path("here"))
        tensors = ["attention", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy"]
        for other in ("./o.npy", "folder/../o.npy", self.path("o.npy"), "link.npy", "link of a link.npy", "here/o.npy"):
            for out, lse in (("o.npy", other), (other, "o.npy")):
                with self.subTest(out=out, lse=lse):
                    self.refuse(f"--lse {lse} --out", *tensors, "--out", out, "--lse", lse)
        self.refuse("--data ./f.npy --out", "plot", "angles", "--out", "f.npy", "--data", "./f.npy")

    def test_links_that_go_round_in_a_circle(self):
        os.symlink("one.npy", self.path("two.npy"))
        os.symlink("two.npy", self.path("one.npy"))
        os.symlink("self.npy", self.path("self.npy"))
        for out in ("one.npy", "two.npy", "self.npy"):
            self.refuse(f"--out {out} links", "rotary", "--x", "good.npy", "--out", out)
            self.assertTrue(os.path.islink(self.path(out)))

    def test_a_directory_that_is_not_writable(self):
        if os.geteuid() == 0:
            self.skipTest("root may write anywhere")
        os.mkdir(self.path("locked"), 0o555)
        self.refuse("--out locked", "rotary", "--x", "good.npy", "--out", "locked/y.npy")

    def test_the_output_is_checked_before_the_input_is_read(self):
        self.refuse("--out nowhere", "rotary", "--x", "missing.npy", "--out", "nowhere/y.npy")
