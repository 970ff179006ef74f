"""The Rust crate on this machine: its structs have the layout of gyre/embedded.h, member by member, and a call gives what it must.

    python rust_test.py BUILD CC WORK
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PACKAGES = ROOT / "runtime" / "embedded" / "packages"
HERE = pathlib.Path(__file__).resolve().parent


def structs(text):
    """{struct: members} of the crate's text."""
    found = re.findall(r"#\[repr\(C\)\][^{]*pub struct (\w+) \{(.*?)\n\}", text, re.S)
    return {name: re.findall(r"pub (\w+):", body) for name, body in found}


class RustTest(unittest.TestCase):
    build = cc = work = None

    def run_words(self, *words, **options):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, **options)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout

    def setUp(self):
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        prefix, self.crate = self.work / "prefix", self.work / "crate"
        self.run_words("cmake", "--install", self.build, "--prefix", prefix)
        self.run_words(sys.executable, PACKAGES / "make.py", "rust", self.crate, f"host={prefix}")
        self.include = prefix / "include"
        self.rlib = self.work / "libgyre_sys.rlib"
        self.run_words("rustc", "--edition", "2021", "--crate-type", "rlib", "--crate-name", "gyre_sys", "-D", "warnings", "-L",
                       self.crate / "lib" / "host", "-l", "static=gyre_embedded", self.crate / "src" / "lib.rs", "-o", self.rlib)

    def run_rust(self, name, text):
        source, program = self.work / f"{name}.rs", self.work / name
        source.write_text(text, encoding="utf-8")
        self.run_words("rustc", "--edition", "2021", "-D", "warnings", "--extern", f"gyre_sys={self.rlib}", source, "-o", program)
        return self.run_words(program)

    def test_layout(self):
        members = structs((self.crate / "src" / "lib.rs").read_text(encoding="utf-8"))
        header = (self.include / "gyre" / "embedded.h").read_text(encoding="utf-8")
        self.assertEqual(set(members), set(re.findall(r"typedef struct (\w+) \{", header)))
        rust, c = "use gyre_sys::*;\nuse std::mem::*;\nfn main() {\n", "#include <gyre/embedded.h>\n#include <stdio.h>\nint main(void) {\n"
        for struct, names in members.items():
            rust += f'    println!("{struct} {{}}", size_of::<{struct}>());\n'
            c += f'    printf("{struct} %zu\\n", sizeof({struct}));\n'
            for name in names:
                rust += f'    println!("{struct}.{name} {{}}", offset_of!({struct}, {name}));\n'
                c += f'    printf("{struct}.{name} %zu\\n", offsetof({struct}, {name}));\n'
        source, program = self.work / "layout.c", self.work / "layout_in_c"
        source.write_text(c + "}\n", encoding="utf-8")
        self.run_words(self.cc, "-I", self.include, source, "-o", program)
        self.assertEqual(self.run_rust("layout", rust + "}\n"), self.run_words(program))

    def test_names(self):
        """Every function and constant of the header is in the crate, with its value."""
        header = (self.include / "gyre" / "embedded.h").read_text(encoding="utf-8")
        text = (self.crate / "src" / "lib.rs").read_text(encoding="utf-8")
        functions = set(re.findall(r"^(?!static)[a-z_0-9 ]+ \*?(gyre_embedded_\w+)\(", header, re.M))
        self.assertEqual(functions, set(re.findall(r"pub fn (\w+)\(", text)))
        constants = dict(re.findall(r"^    (GYRE_EMBEDDED_\w+) = (\d+)", header, re.M))
        self.assertEqual(constants, dict(re.findall(r"pub const (GYRE_EMBEDDED_\w+): \w+ = (\d+);", text)))

    def test_call(self):
        shutil.copy(HERE / "two_keys.rs", self.work)
        self.assertEqual(self.run_rust("attend", (HERE / "attend.rs").read_text(encoding="utf-8")), "as expected\n")

    def test_without_std(self):
        """cargo builds a program without std, and says which processor or target it has no library for."""
        app = self.work / "app"
        (app / "src").mkdir(parents=True)
        shutil.copy(HERE / "no_std.rs", app / "src" / "main.rs")
        shutil.copy(HERE / "two_keys.rs", app / "src")
        (app / "Cargo.toml").write_text(
            '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n'
            f'gyre-sys = {{ path = "{self.crate}" }}\n[profile.dev]\npanic = "abort"\n', encoding="utf-8")
        environment = {name: value for name, value in os.environ.items() if name not in ("RUSTFLAGS", "GYRE_PROCESSOR")}

        def cargo(*words, **variables):
            return subprocess.run(["cargo", *words, "--offline", "--quiet"], cwd=app, env={**environment, **variables}, capture_output=True,
                                  text=True, check=False)

        done = cargo("run")
        self.assertEqual((done.returncode, done.stdout), (0, "as expected\n"), done.stderr)
        for target, processor, text in [
                (None, "cortex-m4", "no library for cortex-m4, set GYRE_PROCESSOR to one of: host"),
                ("thumbv7em-none-eabihf", None, "no library for cortex-m4, set GYRE_PROCESSOR to one of: host"),
                ("armv7r-none-eabihf", None, "no library for a processor that the target does not name, set GYRE_PROCESSOR"),
                ("thumbv7em-none-eabi", "host", "take a target that ends with eabihf")]:
            refused = cargo("build", *(["--target", target] if target else []), **({"GYRE_PROCESSOR": processor} if processor else {}))
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(text, refused.stderr)


if __name__ == "__main__":
    if not shutil.which("rustc"):
        print("skipped: there is no rustc")
    else:
        RustTest.build, RustTest.cc, RustTest.work = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
        unittest.main(argv=sys.argv[:1])
