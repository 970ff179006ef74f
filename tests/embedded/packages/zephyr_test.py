"""The Zephyr module in a workspace laid out as west lays it out, with as much of Zephyr as it needs: the sample is built and run.

    python zephyr_test.py BOARD.json
"""

import pathlib
import shutil
import subprocess

from board import BoardTest, main
from kconfig import KconfigError, resolve

HERE = pathlib.Path(__file__).resolve().parent


class ZephyrTest(BoardTest):
    def setUp(self):
        super().setUp()
        self.workspace = self.work / "workspace"
        (self.workspace / "zephyr").mkdir(parents=True)
        shutil.copytree(HERE / "zephyr", self.workspace / "zephyr", dirs_exist_ok=True)
        self.module = self.workspace / "modules" / "lib" / "gyre"
        done = self.make("zephyr", self.module)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.name = "CPU_" + self.board["processor"].upper().replace("-", "_")
        self.hardware = {self.name} | ({"ARMV8_1_M_MVEF"} if self.name.endswith(("M55", "M85")) else set())

    def settings(self, hardware):
        """By the Kconfig that module.yml names."""
        described = dict(line.strip().split(": ") for line in (self.module / "zephyr/module.yml").read_text(encoding="utf-8").splitlines()
                         if ": " in line)
        kconfig = (self.module / described["kconfig"]).read_text(encoding="utf-8")
        return resolve(kconfig, (self.module / "samples/decode/prj.conf").read_text(encoding="utf-8"), hardware)

    def configure(self, settings):
        configuration = self.work / "configuration.cmake"
        configuration.write_text("".join(f"set(CONFIG_{name} y)\n" for name in sorted(settings)), encoding="utf-8")
        board = self.board
        words = (board["cmake"], "-S", self.module / "samples/decode", "-B", self.work / "build", "-G", board["generator"],
                 f"-DCMAKE_MAKE_PROGRAM={board['make']}", f"-DCMAKE_TOOLCHAIN_FILE={board['toolchain']}",
                 f"-DZephyr_DIR={self.workspace / 'zephyr'}", f"-DZEPHYR_MODULES={self.module}", f"-DCONFIGURATION={configuration}",
                 f"-DBOARD_SOURCES={';'.join(board['sources'])}", f"-DBOARD_SCRIPT={board['script']}", f"-DBOARD_CLOCK={board['clock']}")
        return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)

    def test_sample(self):
        self.run_sample(self.hardware)

    def test_cortex_m52(self):
        """A Cortex-M52 is served by the library for cortex-m55."""
        if self.name == "CPU_CORTEX_M55":
            self.run_sample({"CPU_CORTEX_M52", "ARMV8_1_M_MVEF"})

    def run_sample(self, hardware):
        done = self.configure(self.settings(hardware))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.run_words(self.board["cmake"], "--build", self.work / "build")
        said = self.run_words(*self.board["run"], self.work / "build" / "zephyr")
        expected = (self.module / "samples/decode/sample.yaml").read_text(encoding="utf-8").split('- "')[1].split('"')[0]
        self.assertIn(expected, said)

    def test_refusals(self):
        with self.assertRaisesRegex(KconfigError, "GYRE_EMBEDDED depends on CPU_CORTEX_M4"):
            self.settings({"CPU_CORTEX_M0"})
        with self.assertRaisesRegex(KconfigError, "GYRE_EMBEDDED depends on ARMV8_1_M_MVEF"):
            self.settings({"CPU_CORTEX_M55"})
        shutil.rmtree(self.module / "lib")
        done = self.configure(self.settings(self.hardware))
        self.assertIn(f"has no library for {self.board['processor']}", " ".join(done.stderr.split()))


if __name__ == "__main__":
    main()
