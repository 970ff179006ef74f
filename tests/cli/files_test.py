"""How gyre reads and writes files."""

import os
import resource
import signal
import subprocess
import time

import numpy as np

from harness import GyreTest


class Files(GyreTest):
    def rotate(self, out="y.npy", *options):
        return self.succeed("rotary", "--x", "x.npy", "--out", out, *options)

    def test_every_header_version(self):
        x = self.normal(1, 2, 3, 8)
        results = []
        for version in ((1, 0), (2, 0), (3, 0)):
            with open(self.path("x.npy"), "wb") as file:
                np.lib.format.write_array(file, x, version)
            self.rotate()
            results.append(self.load("y.npy"))
        np.testing.assert_array_equal(results[0], results[1])
        np.testing.assert_array_equal(results[0], results[2])

    def test_headers_of_other_writers(self):
        x = self.normal(1, 2, 3, 8)
        self.save("x.npy", x)
        self.rotate("expected.npy")
        for header in (
            "{'shape':(1,2,3,8),'fortran_order':False,'descr':'<f4'}",
            '{ "descr" : "<f4" , "fortran_order" : False , "shape" : (1L, 2L, 3L, 8L) , }\n',
        ):
            data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + x.tobytes()
            with open(self.path("x.npy"), "wb") as file:
                file.write(data)
            self.rotate()
            np.testing.assert_array_equal(self.load("y.npy"), self.load("expected.npy"))

    def test_a_header_of_more_than_two_bytes_of_length(self):
        x = self.normal(1, 2, 3, 8)
        self.save("x.npy", x)
        self.rotate("expected.npy")
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3, 8), }".ljust(0x0201A7) + "\n"
        data = b"\x93NUMPY\x02\x00" + len(header).to_bytes(4, "little") + header.encode() + x.tobytes()
        with open(self.path("x.npy"), "wb") as file:
            file.write(data)
        self.rotate()
        np.testing.assert_array_equal(self.load("y.npy"), self.load("expected.npy"))

    def test_data_of_an_output_begins_at_a_multiple_of_64_bytes(self):
        self.save("x.npy", self.normal(1, 2, 3, 8))
        self.rotate()
        self.assertEqual((os.path.getsize(self.path("y.npy")) - 4 * 2 * 3 * 8) % 64, 0)

    def test_half_precision_survives_a_rotation_by_nothing(self):
        every = np.arange(1 << 16, dtype=np.uint16).view(np.float16).reshape(1, 1, 1 << 12, 16)
        self.save("x.npy", every)
        self.save("p.npy", np.zeros(1 << 12, np.int32))
        self.rotate("y.npy", "--positions", "p.npy")
        finite = np.isfinite(every).all(axis=-1)
        np.testing.assert_array_equal(self.load("y.npy")[finite], every[finite])

    def test_half_precision_is_read_as_the_numbers_that_it_stands_for(self):
        every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
        finite = every[np.isfinite(every)].reshape(1, 1, -1, 16)
        self.save("x.npy", finite)
        self.save("p.npy", np.zeros(finite.shape[2], np.int64))
        self.rotate("y.npy", "--positions", "p.npy", "--dtype", "f32")
        np.testing.assert_array_equal(self.load("y.npy"), finite.astype(np.float32))

    def test_conversion_to_half_precision_rounds_as_numpy_does(self):
        halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)
        between = (halves[:-1] + halves[1:]) / 2  # ties, and their neighbours
        x = np.concatenate([
            self.normal(4096), self.normal(4096) * 1e-6, self.normal(4096) * 30000, self.normal(4096) * 1e-8,
            between, np.nextafter(between, 0), -np.nextafter(between, np.inf)
        ])
        x = x[: len(x) // 16 * 16].astype(np.float32).reshape(1, 1, -1, 16)
        self.save("x.npy", x)
        self.save("p.npy", np.zeros(x.shape[2], np.int64))
        self.rotate("y.npy", "--positions", "p.npy", "--rotary-dim", 2, "--rotary-offset", 14, "--dtype", "f16")
        with np.errstate(over="ignore"):
            expected = x.astype(np.float16)
        np.testing.assert_array_equal(self.load("y.npy")[..., :14], expected[..., :14])

    def test_an_output_replaces_an_older_one_and_may_be_the_input(self):
        self.save("x.npy", self.normal(1, 2, 3, 8))
        self.rotate("y.npy")
        self.rotate("x.npy")
        np.testing.assert_array_equal(self.load("x.npy"), self.load("y.npy"))
        self.assertEqual(sorted(os.listdir(self.directory)), ["x.npy", "y.npy"])

    def test_an_output_has_the_permissions_of_the_one_that_it_replaces(self):
        self.save("x.npy", self.normal(1, 2, 3, 8))
        for mode in (0o600, 0o640, 0o444):
            self.save("y.npy", np.arange(3))
            os.chmod(self.path("y.npy"), mode)
            self.rotate("y.npy")
            self.assertEqual(os.stat(self.path("y.npy")).st_mode & 0o777, mode)
            os.remove(self.path("y.npy"))
        self.rotate("y.npy")
        self.assertEqual(os.stat(self.path("y.npy")).st_mode, os.stat(self.path("x.npy")).st_mode)

    def test_a_file_over_the_limit_is_a_failure_while_running(self):
        self.save("x.npy", np.zeros((1, 1, 64, 64), np.float32))
        result = subprocess.run(
            [self.program, "rotary", "--x", "x.npy", "--out", "y.npy"], cwd=self.directory, capture_output=True, text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
        )
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"^gyre rotary: .*y\.npy: cannot be written: .*\n$")
        self.assertEqual(os.listdir(self.directory), ["x.npy"])

    def test_a_link_stays_a_link(self):
        self.save("x.npy", self.normal(1, 2, 3, 8))
        os.symlink("target.npy", self.path("y.npy"))
        self.rotate("y.npy")
        self.assertTrue(os.path.islink(self.path("y.npy")))
        self.assertEqual(self.load("target.npy").shape, (1, 2, 3, 8))

    def test_an_older_output_survives_a_refusal(self):
        self.save("x.npy", self.normal(1, 2, 3, 8))
        self.save("y.npy", np.arange(3))
        self.refuse("--offset -3", "rotary", "--x", "x.npy", "--out", "y.npy", "--offset", -3)
        np.testing.assert_array_equal(self.load("y.npy"), np.arange(3))

    def test_an_interrupt_leaves_no_file(self):
        self.save("x.npy", np.zeros((1, 64, 4096, 64), np.float32))
        for delay in (0.01, 0.03, 0.06, 0.1, 0.15):
            with subprocess.Popen(
                [self.program, "rotary", "--x", "x.npy", "--out", "y.npy"],
                cwd=self.directory,
                stdout=subprocess.DEVNULL,
            ) as process:
                time.sleep(delay)
                process.send_signal(signal.SIGINT)
            left = sorted(os.listdir(self.directory))
            self.assertIn(left, (["x.npy"], ["x.npy", "y.npy"]))
            if "y.npy" in left:
                self.assertEqual(self.load("y.npy").shape, (1, 64, 4096, 64))
                os.remove(self.path("y.npy"))

    def test_a_full_disk_is_a_failure_while_running(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        for words in (["info"], ["--help"], ["attention", "--help"], ["--version"]):
            with self.subTest(" ".join(words)), open("/dev/full", "w") as full:
                result = subprocess.run([self.program, *words], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual((result.returncode, result.stderr.count("\n")), (1, 1))
