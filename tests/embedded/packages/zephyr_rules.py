"""What Zephyr and west ask of a module: module.yml, Kconfig, and the sample's prj.conf and sample.yaml.

The keys are those of Zephyr's scripts/schemas (module-schema.yaml, twister/testsuite-schema.yaml), as far as a module of libraries needs them.
"""

import re

import yaml_text
from structure import faults_of, text

FOLDER = re.compile(r"[\w.-]+(/[\w.-]+)*")
MODULE = {
    "name": re.compile(r"[A-Za-z0-9_-]+"),
    "build!": {"cmake!": FOLDER, "kconfig!": FOLDER, "depends": [str], "settings": {"board_root": FOLDER, "dts_root": FOLDER}},
    "samples": [FOLDER],
    "tests": [FOLDER],
}
SCENARIO = {
    "platform_allow": [re.compile(r"[a-z0-9_]+(/[a-z0-9_]+)*")],
    "tags": [str],
    "harness": {"console"},
    "harness_config": {"type!": {"one_line", "multi_line"}, "regex!": [text()], "ordered": bool},
    "build_only": bool,
    "timeout": int,
}
# What the option may depend on, and what the sample may set, beside the module's own: names of Zephyr's Kconfig.
ZEPHYR_OPTIONS = {"FPU", "FP_HARDABI", "FPU_SHARING", "ARMV8_1_M_MVEF", "MAIN_STACK_SIZE"} | {
    f"CPU_CORTEX_M{number}" for number in (4, 7, 33, 52, 55, 85)}


def scenarios(value):
    """Each scenario's name begins with `sample.` or `test.`, as twister's documentation asks; it has dots alone between words."""
    if not isinstance(value, dict) or not value:
        return f"got {value!r}, expected scenarios"
    found = [fault for name, scenario in value.items() for fault in faults_of(scenario, SCENARIO, name)]
    found += [f"{name}: no name of a scenario" for name in value if not re.fullmatch(r"[a-z]\w*(\.\w+)+", name)]
    return "; ".join(found)


SAMPLE = {"sample!": {"name!": text(), "description": text()}, "common": SCENARIO, "tests!": scenarios}


def faults_of_yaml(file, rule):
    try:
        value = yaml_text.read(file.read_text(encoding="utf-8"))
    except yaml_text.YamlError as error:
        return [f"{file.name}: {error}"], {}
    found = faults_of(value, rule, file.name)
    return found, {} if found else value


def faults_of_kconfig(content):
    """Options of one type with a prompt, each line one that Kconfig knows, expressions of known names."""
    found, options, in_help = [], set(re.findall(r"^config (\w+)$", content, re.M)), False
    known = options | ZEPHYR_OPTIONS
    for number, line in enumerate(content.splitlines(), 1):
        in_help = in_help and (not line.strip() or line.startswith("\t  "))
        if in_help or not line.strip() or line.startswith("#") or re.fullmatch(r"config [A-Z][A-Z0-9_]*", line):
            continue
        if re.fullmatch(r'\t(bool|int|hex|string) "[^"]+"', line):
            continue
        in_help = line == "\thelp"
        depends = re.fullmatch(r"\tdepends on (.+)", line)
        if depends:
            unknown = set(re.findall(r"\w+", depends[1])) - known
            found += [f"Kconfig:{number}: {name} is no option of Zephyr's" for name in sorted(unknown)]
            if not is_expression(depends[1]):
                found.append(f"Kconfig:{number}: {depends[1]} is no expression")
        elif not in_help:
            found.append(f"Kconfig:{number}: cannot read {line!r}")
    typed = set(re.findall(r"^config (\w+)\n\t(?:bool|int|hex|string) ", content, re.M))
    return found + [f"Kconfig: {name} has no type" for name in sorted(options - typed)]


def is_expression(words):
    """True if it is of names, !, &&, || and pairs of brackets."""
    before = ""
    while before != words:
        before = words
        words = re.sub(r"\(\s*N\s*\)|!\s*N\b|\bN\s*(&&|\|\|)\s*N\b|\b(?!N\b)\w+\b", "N", words)
    return words.strip() == "N"


def faults_of_settings(content, kconfig):
    """Of prj.conf."""
    known = set(re.findall(r"^config (\w+)$", kconfig, re.M)) | ZEPHYR_OPTIONS
    found = []
    for number, line in enumerate(content.splitlines(), 1):
        setting = re.fullmatch(r'CONFIG_(\w+)=(y|n|\d+|"[^"]*")', line)
        if setting and setting[1] not in known:
            found.append(f"prj.conf:{number}: {setting[1]} is no option")
        elif not setting and line.strip() and not line.startswith("#"):
            found.append(f"prj.conf:{number}: cannot read {line!r}")
    return found


def faults_of_module(folder):
    """Of everything in a module's folder that Zephyr reads before it builds."""
    found, module = faults_of_yaml(folder / "zephyr" / "module.yml", MODULE)
    if not module:
        return found
    cmake, kconfig = folder / module["build"]["cmake"] / "CMakeLists.txt", folder / module["build"]["kconfig"]
    found += [f"module.yml: {file} does not exist" for file in (cmake, kconfig) if not file.is_file()]
    content = kconfig.read_text(encoding="utf-8") if kconfig.is_file() else ""
    found += faults_of_kconfig(content)
    for name in module.get("samples", []):
        samples = sorted((folder / name).glob("*/sample.yaml"))
        if not samples:
            found.append(f"module.yml: {name} has no sample.yaml")
        for file in samples:
            found += faults_of_yaml(file, SAMPLE)[0]
            found += faults_of_settings((file.parent / "prj.conf").read_text(encoding="utf-8"), content)
    return found
