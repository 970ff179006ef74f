"""What cmake/go does with its words, its folder and its lock; the tools that it calls are replaced by ones that write down how.

    python go_test.py
"""

import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAKE = """#!/bin/sh
echo "$(basename "$0") $*" >>"$CALLS"
case "$*" in
*"-S . -B "*) echo CMAKE_HOME_DIRECTORY:INTERNAL={root} >"$(echo "$*" | sed 's/.* -B \\([^ ]*\\) .*/\\1/')/CMakeCache.txt" ;;
esac
case "$(basename "$0")" in "$FAILING") echo "$FAILING has failed"; exit 1 ;; esac
"""


class GoTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gyre-go-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.build = self.folder / "build"
        self.calls_file = self.folder / "calls"
        self.calls_file.touch()
        self.tools = self.folder / "tools"
        self.tools.mkdir()
        for name in ("apt-get", "sudo"):  # no test installs anything
            self.fake(self.tools / name)

    @staticmethod
    def fake(program):
        program.write_text(FAKE.replace("{root}", str(ROOT)))
        program.chmod(0o755)

    def run_go(self, *words, failing="none", **environment):
        given = {**os.environ, "GYRE_BUILD": str(self.build), "GYRE_PYTHON": sys.executable, "CALLS": str(self.calls_file)}
        given.update(FAILING=failing, PATH=f"{self.tools}:{os.environ['PATH']}")
        given.update(environment)
        return subprocess.run([ROOT / "cmake" / "go", *words], env=given, capture_output=True, text=True, cwd=self.folder)

    def refuse(self, said, *words, **environment):
        result = self.run_go(*words, **environment)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(said, result.stderr)

    def prepared(self):
        """A folder that looks set up, so that nothing is installed."""
        programs = self.build / "venv" / "bin"
        programs.mkdir(parents=True)
        for name in ("python", "cmake", "ninja", "ctest", "auditwheel"):
            self.fake(programs / name)
        (self.build / "venv" / "made-from").write_text(f"{self.build}/venv {sys.version} {sys.base_prefix}\n")
        for file in ROOT.glob("cmake/requirements*.txt"):
            shutil.copy(file, self.build / "venv" / f"installed-{file.name}")

    def call(self, beginning):
        """The last call of a tool that begins so."""
        found = [line for line in self.calls_file.read_text().splitlines() if line.startswith(beginning)]
        self.assertTrue(found, self.calls_file.read_text())
        return found[-1]


class Words(GoTest):
    def test_help(self):
        for words in (("demo", "--help"), ("help",), ("--help",), ("build", "-h"), ("kernel", "--help")):
            result = self.run_go(*words)
            self.assertEqual((result.returncode, result.stderr), (0, ""), words)
            self.assertIn("cmake/go demo", result.stdout)

    def test_unknown_words(self):
        self.refuse("unknown command 'frobnicate', expected demo, test", "frobnicate")
        self.refuse("build: unknown word 'fast', expected options -DNAME=VALUE or --help", "build", "fast")
        self.refuse("demo: unknown word '--all'", "demo", "--all")

    def test_options_of_cmake_are_passed_on_last(self):
        self.prepared()
        self.assertEqual(self.run_go("build", "-DGYRE_CUDA=OFF").returncode, 0)
        self.assertTrue(self.call("cmake -S").endswith("-DGYRE_BUILD_TESTS=OFF -DGYRE_BUILD_BENCH=OFF -DGYRE_CUDA=OFF"))

    def test_install(self):
        self.prepared()
        self.assertEqual(self.run_go("install", "here").returncode, 0)
        self.assertIn("gyre_package", self.call("ninja"))
        self.assertEqual(self.call("cmake --install"), f"cmake --install {self.build} --prefix {self.folder}/here")
        for words in ((), ("a", "b")):
            self.refuse("install: expected one folder to install into", "install", *words)
        self.refuse("install: unknown word, expected a folder", "install", "--prefix", "here")

    def test_uninstall(self):
        self.prepared()
        self.refuse("nothing was installed from", "uninstall")
        (self.build / "install_manifest.txt").touch()
        self.assertEqual(self.run_go("uninstall").returncode, 0)
        self.assertTrue(self.call("cmake --build").endswith("--target uninstall"))

    def test_wheel(self):
        self.prepared()
        self.assertEqual(self.run_go("wheel", "-DGYRE_CUDA=OFF").returncode, 0)
        self.assertIn("gyre_wheel_libraries", self.call("ninja"))
        self.assertIn(f"cmake.define.GYRE_BUILD_DIR={self.build}", self.call("python -m pip wheel"))
        self.assertIn(f"repair --exclude libtorch_cpu.so -w {self.build}/wheel", self.call("auditwheel"))
        self.refuse("failed: auditwheel", "wheel", failing="auditwheel")


class Python(GoTest):
    def path_without_python(self, apt_get):
        """A folder of the programs that cmake/go needs before there is a Python, and this apt-get."""
        programs = self.folder / "programs"
        programs.mkdir()
        for name in "sh bash env realpath dirname basename mkdir flock cat date head sed tail mv rm nproc id sudo tee uname".split():
            if found := shutil.which(name):
                (programs / name).symlink_to(found)
        (programs / "apt-get").write_text(f'#!/bin/sh\necho "apt-get $*" >>"$CALLS"\n{apt_get}\n')
        (programs / "apt-get").chmod(0o755)
        return programs

    @unittest.skipIf(os.geteuid(), "needs root, to install packages without a password")
    def test_is_installed_where_there_is_none(self):
        programs = self.path_without_python('case "$*" in *"install -y"*) ln -s "$PYTHON" "$(dirname "$0")/python3" ;; esac')
        (programs / "ln").symlink_to(shutil.which("ln"))
        self.run_go("build", PATH=str(programs), GYRE_PYTHON="", PYTHON=sys.executable, PIP_NO_INDEX="1")
        self.call("apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends python3 python3-venv")

    @unittest.skipIf(os.geteuid(), "needs root, to install packages without a password")
    def test_that_cannot_be_installed(self):
        programs = self.path_without_python("exit 1")
        self.refuse("apt-get", "build", PATH=str(programs), GYRE_PYTHON="")

    def test_that_is_not_there(self):
        self.refuse("no usable Python: /nowhere/python is not there, expected CPython 3.10", "build", GYRE_PYTHON="/nowhere/python")


class Folder(GoTest):
    def test_that_cannot_be_written(self):
        (self.folder / "build").write_text("a file")
        self.refuse("Name a folder to build in:\n    GYRE_BUILD=", "demo")

    def test_that_another_works_in(self):
        self.build.mkdir()
        with open(self.build / ".lock", "w", encoding="utf-8") as lock:
            lock.write("cmake/go test (process 1, since 12:00:00)\n")
            lock.flush()
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.refuse("cmake/go test (process 1, since 12:00:00) is at work in", "build")
            self.refuse("is at work in", "clean")
            self.assertTrue(self.build.exists())

    def test_clean(self):
        self.build.mkdir()
        (self.build / "thesis.tex").touch()
        self.refuse("is no folder that cmake/go has built in", "clean")
        (self.build / ".lock").touch()
        self.assertEqual(self.run_go("clean").returncode, 0)
        self.assertFalse(self.build.exists())


class Demo(GoTest):
    def test_its_limits_hold_until_another_command(self):
        self.prepared()
        self.assertEqual(self.run_go("demo").returncode, 0)
        self.assertIn("-DGYRE_TARGETS=host;x86_64_generic", self.call("cmake -S"))
        self.assertIn("gyre gyre_cli", self.call("ninja"))
        self.run_go("demo")
        self.assertNotIn("GYRE_TARGETS", self.call("cmake -S"))
        self.run_go("build")
        self.assertIn("-UGYRE_TARGETS", self.call("cmake -S"))
        self.run_go("build")
        self.assertNotIn("GYRE_TARGETS", self.call("cmake -S"))

    def test_an_option_of_the_user_is_kept(self):
        self.prepared()
        self.run_go("demo", "-DGYRE_TARGETS=x86_64_avx2")
        self.assertNotIn("host", self.call("cmake -S"))
        self.run_go("build")
        self.assertNotIn("GYRE_TARGETS", self.call("cmake -S"))
        self.assertIn("-UGYRE_HEAD_DIMS", self.call("cmake -S"))

    def test_a_build_is_not_limited(self):
        self.prepared()
        self.run_go("build")
        self.run_go("demo")
        self.assertNotIn("GYRE_TARGETS", self.call("cmake -S"))

    def test_machine_code_that_the_tests_leave_out_is_made_by_other_commands(self):
        self.prepared()
        configuring = f"cmake -S . -B {self.build} -G"
        self.run_go("demo")
        self.run_go("test")
        self.assertIn("-UGYRE_TARGETS", self.call(configuring))
        self.assertIn("-DGYRE_CUDA_WITHOUT_IMAGE=", self.call(configuring))
        self.run_go("test")
        self.assertNotIn("WITHOUT_IMAGE", self.call(configuring))
        self.run_go("test", "--all")
        self.assertIn("-UGYRE_CUDA_WITHOUT_IMAGE", self.calls_file.read_text())
        self.run_go("test")
        self.assertNotIn("WITHOUT_IMAGE", self.call(configuring))


class Compare(GoTest):
    def test_it_builds_no_kernels(self):
        self.prepared()
        self.assertEqual(self.run_go("compare", "old.so", "new.so", "--kernel", "k").returncode, 0)
        self.assertTrue(self.call("ninja").endswith(" gyre_tune_runner"))
        self.assertTrue(self.call("python").endswith("share/gyre/tune/tune.py compare old.so new.so --kernel k"))


class Tests(GoTest):
    def test_what_is_left_out_is_told_with_its_command(self):
        self.prepared()
        result = self.run_go("test")
        self.assertEqual(result.returncode, 0, result.stderr)
        for command in ("cmake/go arm", "cmake/go test -DGYRE_CHECKED=all", "cmake/go test --all"):
            self.assertIn(command, result.stdout)
        self.assertIn("--timeout 14400", self.call("ctest"))
        self.assertIn("--label-exclude nightly", self.call("ctest"))

    def test_all_runs_what_is_left_to_nights(self):
        self.prepared()
        self.assertEqual(self.run_go("test", "--all").returncode, 0)
        self.assertNotIn("--label-exclude", self.call("ctest"))

    def test_a_failing_test_fails_the_command(self):
        self.prepared()
        result = self.run_go("test", failing="ctest")
        self.assertEqual(result.returncode, 1)
        self.assertIn("summary.py", self.call("python"))

    def test_a_failing_step_names_its_log(self):
        self.prepared()
        self.refuse("ninja has failed", "build", failing="ninja")

    def test_without_network(self):
        self.prepared()
        (self.build / "venv" / "installed-requirements.txt").unlink()
        self.refuse("PIP_NO_INDEX=1 PIP_FIND_LINKS=/path/to/wheels cmake/go build", "build", failing="python")

    def test_wheels_are_found_from_the_folder_of_the_caller(self):
        self.prepared()
        (self.build / "venv" / "installed-requirements.txt").unlink()
        (self.folder / "wheels").mkdir()
        script = self.build / "venv" / "bin" / "python"
        script.write_text(script.read_text().replace('$*" >>', '$* $PIP_FIND_LINKS" >>'))
        self.run_go("build", PIP_FIND_LINKS="wheels")
        self.assertIn(f"{self.folder}/wheels", self.calls_file.read_text())


class Summary(unittest.TestCase):
    def test_skipped_is_not_passed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "tests.xml")
            path.write_text(
                '<testsuite><testcase name="a" status="run"/><testcase name="b" status="fail"/>'
                '<testcase name="c" status="notrun"><skipped/><system-out>-- skipped: there is no qemu\n</system-out></testcase>'
                '<testcase name="d" status="disabled"/></testsuite>'
            )
            said = subprocess.check_output([sys.executable, ROOT / "cmake" / "steps" / "summary.py", path], text=True)
            self.assertIn("skipped  c: there is no qemu", said)
            self.assertIn("1 passed, 1 failed, 2 skipped, of 4", said)


if __name__ == "__main__":
    unittest.main()
