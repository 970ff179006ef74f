"""Runs a program on an emulated processor with AVX-512 and its BF16, whatever this one has: Bochs, as a Sapphire Rapids without AMX.

    python emulated_x86.py [--set NAME=VALUE …] [--linux VMLINUZ] [--folder FOLDER] PROGRAM [WORD …]

The program, the libraries it is linked to and busybox are all that the emulated machine has besides a Linux, which it boots first: a minute. What the
program prints is printed as it comes. Ends with the program's exit status, with 77 where something that this needs is missing, and with 2 where the machine
stopped otherwise.

Bochs 3.0 takes some gathers in the upper sixteen registers for illegal instructions, which gradients in bf16 have. Needs bochs 3.0, bochsbios, vgabios,
grub-pc-bin, grub-common, xorriso, mtools, busybox-static, cpio and a Linux of Debian 13 or later (linux-image-cloud-amd64).
"""

import argparse
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

TOOLS = ("bochs", "grub-mkrescue", "xorriso", "mformat", "cpio", "ldd")
BUSYBOX = pathlib.Path("/bin/busybox")
FIRMWARE = {"romimage": "/usr/share/bochs/BIOS-bochs-latest", "vgaromimage": "/usr/share/vgabios/vgabios.bin"}
GRUB = pathlib.Path("/usr/lib/grub/i386-pc")
BEGIN, END = "gyre: begin", "gyre: exit status"

# Linux takes tiles only as a whole with XFD, which Bochs 3.0 lacks; LA57 is lost when the firmware's management mode returns.
PROCESSOR = 'model=sapphire_rapids, ips=100000000, ignore_bad_msrs=1, exclude_features="amx,amx_int8,amx_bf16,la57"'
LINUX_OPTIONS = "console=ttyS0,115200 rdinit=/init mitigations=off lsm=capability tsc=reliable lpj=4000000 idle=halt nopcid nokaslr"

INIT = """#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs dev /dev
exec > /dev/ttyS0 2>&1
echo {begin}
{settings} {words}
echo "{end} $?"
/bin/busybox poweroff -f
"""
MENU = """set timeout=0
menuentry gyre {{
    linux /boot/vmlinuz {options}
    initrd /boot/initrd
}}
"""
MACHINE = """display_library: rfb, options="timeout=0"
sound: driver=dummy
cpu: {processor}
memory: guest=2048, host=2048
{firmware}
ata0-master: type=cdrom, path={folder}/machine.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev={folder}/serial
clock: sync=none, time0=1700000000
log: {folder}/log
panic: action=fatal
"""


def missing(linux):
    """What this needs and does not find, or an empty string."""
    tools = [tool for tool in TOOLS if shutil.which(tool) is None]
    files = [str(path) for path in (BUSYBOX, GRUB, *FIRMWARE.values()) if not pathlib.Path(path).exists()]
    if not tools:
        known = subprocess.run(["bochs", "--help", "cpu"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        tools = [] if "sapphire_rapids" in known.stdout else ["bochs 3.0"]
    return ", ".join([*tools, *files, *([] if linux else ["a Linux in /boot"])])


def copy(path, tree):
    to = tree / str(path).lstrip("/")
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, to)


def make_machine(options, folder):
    tree, disc = folder / "tree", folder / "disc"
    for name in ("dev", "proc", "tmp", "bin"):
        (tree / name).mkdir(parents=True)
    (disc / "boot" / "grub").mkdir(parents=True)
    program = pathlib.Path(options.program).resolve(strict=True)
    for file in [BUSYBOX, program, *re.findall(r"/\S+", subprocess.check_output(["ldd", program], text=True))]:
        copy(file, tree)
    words = shlex.join([str(program), *options.words])
    init = INIT.format(begin=BEGIN, end=END, words=words, settings=shlex.join(options.set))
    (tree / "init").write_text(init)
    (tree / "init").chmod(0o755)
    with open(disc / "boot" / "initrd", "wb") as archive:
        names = "\n".join(str(path.relative_to(tree)) for path in [tree, *sorted(tree.rglob("*"))])
        subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=tree, input=names.encode(), stdout=archive, check=True)
    shutil.copy(options.linux, disc / "boot" / "vmlinuz")
    (disc / "boot" / "grub" / "grub.cfg").write_text(MENU.format(options=LINUX_OPTIONS))
    subprocess.run(["grub-mkrescue", "-o", folder / "machine.iso", disc], capture_output=True, check=True)
    firmware = "\n".join(f"{name}: file={path}" for name, path in FIRMWARE.items())
    (folder / "machine").write_text(MACHINE.format(folder=folder, processor=PROCESSOR, firmware=firmware))


def run(folder):
    """The program's exit status, or None; prints what it prints."""
    with open(folder / "bochs", "w") as said:
        bochs = subprocess.Popen(["bochs", "-q", "-f", folder / "machine"], stdin=subprocess.DEVNULL, stdout=said, stderr=said)
    printed = 0
    try:
        while True:
            has_ended = bochs.poll() is not None
            console = (folder / "serial").read_text(errors="replace") if (folder / "serial").exists() else ""
            _, _, of_program = console.partition(f"{BEGIN}\n")
            of_program, end, status = of_program.partition(END)
            whole = len(of_program) if end else of_program.rfind("\n") + 1
            print(of_program[printed:whole], end="", flush=True)
            printed = whole
            if "\n" in status:
                return int(status.split()[0])
            if has_ended:
                print(console[-2000:], (folder / "bochs").read_text()[-2000:], file=sys.stderr)
                return None
            time.sleep(1)
    finally:
        bochs.kill()


def main():
    parser = argparse.ArgumentParser(description="Runs a program on an emulated processor with AVX-512 and its BF16.")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a variable of the program's environment")
    parser.add_argument("--linux", metavar="VMLINUZ", help="the kernel to boot; default: the newest in /boot")
    parser.add_argument("--folder", type=pathlib.Path, help="where the machine is made; default: a temporary one")
    parser.add_argument("program")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    options.linux = options.linux or max(map(str, pathlib.Path("/boot").glob("vmlinuz-*")), default=None)
    if lacking := missing(options.linux):
        print(f"skipped: there is no {lacking}")
        return 77
    with tempfile.TemporaryDirectory(prefix="gyre-x86-", dir=options.folder) as folder:
        make_machine(options, pathlib.Path(folder))
        status = run(pathlib.Path(folder))
    return 2 if status is None else status


if __name__ == "__main__":
    sys.exit(main())
