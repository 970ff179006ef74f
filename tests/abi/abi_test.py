"""What a program that was built against the headers of a release relies on, as release_*.inc records it: fields stay where they were and
as large, enumerators keep their values, functions are exported. Structures may grow at their end.

    python abi_test.py CC INCLUDE LIBRARY                              compares headers and library with every record
    python abi_test.py CC INCLUDE LIBRARY --record release_0_2.inc     writes the record of a release
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
OTHERS = {"embedded.h", "multi_head_attention.h"}  # of other libraries, which a program is built with
LINE = re.compile(r"GYRE_(STRUCT|FIELD|VALUE|FUNCTION)\((\w+)(?:, (\w+))?(?:, (-?\d+))?(?:, (\d+))?\)")


def declarations(include):
    """Structures with their fields, and enumerators, by name."""
    structures, enumerators = {}, []
    for header in sorted((include / "gyre").glob("*.h")):
        if header.name in OTHERS:
            continue
        text = re.sub(r"/\*.*?\*/|^\s*#.*?$", " ", header.read_text(encoding="utf-8"), flags=re.S | re.M)
        for name, body in re.findall(r"typedef struct (gyre_\w+) \{(.*?)\} \1;", text, flags=re.S):
            fields = []
            for statement in filter(str.strip, body.split(";")):
                pointer = re.search(r"\(\*(\w+)\)", statement)
                fields.append(pointer[1] if pointer else re.search(r"(\w+)\s*(?:\[[^]]*\])*\s*$", statement)[1])
            structures[name] = fields
        for body in re.findall(r"GYRE_ENUM\(gyre_\w+\) \{(.*?)\};", text, flags=re.S):
            enumerators += re.findall(r"\b(GYRE_\w+)\b", body)
    return structures, enumerators


def exported(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r"\b(gyre_\w+)$", listing, flags=re.M)))


def measure(compiler, include, library):
    """Lines of a record: what the compiler makes of the headers, and what the library exports."""
    structures, enumerators = declarations(include)
    rows = []
    for name, fields in structures.items():
        rows.append(f'printf("GYRE_STRUCT({name}, %zu)\\n", sizeof({name}));')
        rows += [f'printf("GYRE_FIELD({name}, {f}, %zu, %zu)\\n", offsetof({name}, {f}), sizeof((({name} *)0)->{f}));' for f in fields]
    rows += [f'printf("GYRE_VALUE({e}, %d)\\n", (int){e});' for e in enumerators]
    with tempfile.TemporaryDirectory(prefix="gyre-abi-") as folder:
        source = pathlib.Path(folder) / "measure.c"
        headers = "".join(f"#include <gyre/{name}>\n" for name in ("gyre.h", "kernels.h", "linked.h"))
        source.write_text(headers + "#include <stdio.h>\nint main(void) {\n" + "\n".join(rows) + "\nreturn 0;\n}\n", encoding="utf-8")
        program = pathlib.Path(folder) / "measure"
        subprocess.run([*compiler.split(), "-std=c99", f"-I{include}", source, "-o", program], check=True)
        text = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return text.splitlines() + [f"GYRE_FUNCTION({name})" for name in exported(library)]


def parse(lines):
    sizes, fields, rest = {}, {}, {}
    for kind, name, *more in LINE.findall("\n".join(lines)):
        if kind == "STRUCT":
            sizes[name] = int(more[0])
        elif kind == "FIELD":
            fields[name, more[0]] = (int(more[1]), int(more[2]))
        else:
            rest[kind, name] = more[0]
    return sizes, fields, rest


def complaints(record, today):
    """What a program of the record's release would find otherwise."""
    sizes, fields, rest = record
    new_sizes, new_fields, new_rest = today
    for name, size in sizes.items():
        if new_sizes.get(name, 0) < size:
            yield f"{name} has {new_sizes.get(name, 'gone')} bytes, {size} in the release"
    for (name, field), at in fields.items():
        if new_fields.get((name, field)) != at:
            yield f"{name}.{field} is at {new_fields.get((name, field))} (offset, bytes), {at} in the release"
    for (name, field), (offset, _) in new_fields.items():
        if (name, field) not in fields and offset < sizes.get(name, 0):
            yield f"{name}.{field} is new, and within what the release has, if only its padding"
    for key, value in rest.items():
        if new_rest.get(key) != value:
            yield f"{key[1]} is {new_rest.get(key, 'gone')}, {value or 'there'} in the release"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("compiler")
    parser.add_argument("include", type=pathlib.Path)
    parser.add_argument("library")
    parser.add_argument("--record", type=pathlib.Path)
    arguments = parser.parse_args()
    lines = measure(arguments.compiler, arguments.include, arguments.library)
    if arguments.record:
        head = "/* What programs of this release rely on, on processors with pointers of 64 bits; written by abi_test.py --record. */\n"
        arguments.record.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
        return
    today, wrong = parse(lines), []
    if len(today[0]) < 10 or len(today[1]) < 100:
        sys.exit(f"abi_test.py: found {len(today[0])} structures and {len(today[1])} fields in the headers")
    for file in sorted(HERE.glob("release_*.inc")):
        wrong += [f"{file.stem}: {text}" for text in complaints(parse(file.read_text(encoding="utf-8").splitlines()), today)]
    print("\n".join(wrong) or f"{len(today[0])} structures, {len(today[1])} fields, {len(today[2])} enumerators and functions")
    # The check itself: a field within the padding that the release has, one that moves, one that shrinks, a structure that shrinks, a value and a function that are gone.
    sizes, fields, rest = (dict(part) for part in today)
    sizes["gyre_tensor"] -= 1
    fields["gyre_tensor", "rank"] = (0, 4)
    fields["gyre_attention_args", "softcap"] = (fields["gyre_attention_args", "softcap"][0], 2)
    fields.pop(("gyre_attention_args", "reserved"))
    rest.pop(("FUNCTION", "gyre_attention"))
    rest["VALUE", "GYRE_BF16"] = "77"
    found = len(list(complaints(today, (sizes, fields, rest))))
    sys.exit(bool(wrong) or found != 6)


if __name__ == "__main__":
    main()
