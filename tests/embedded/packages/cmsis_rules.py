"""What Open-CMSIS-Pack asks of a pack's description: its schema (PACK.xsd) as far as a pack of one component needs it, and packchk's rules."""

import re
import xml.etree.ElementTree

NAME = r"[-_A-Za-z0-9]+"
VERSION = r"\d+\.\d+\.\d+"
PART = r"(?=.{2,32}$)[A-Za-z0-9][\w+()'/\-\s.]+"
ANY = r"[\s\S]*\S[\s\S]*"
CORES = r"Cortex-M(0|0\+|1|3|4|7|23|33|35P|52|55|85)"
INSTANCE = "{http://www.w3.org/2001/XMLSchema-instance}noNamespaceSchemaLocation"

# element: its attributes, those with "!" required, and what may be in it: each child, "!" required, "+" several.
ELEMENTS = {
    "package": ({"schemaVersion!": r"\d+\.\d+(\.\d+)?", INSTANCE: ANY},
                ["vendor!", "name!", "description!", "url!", "license", "releases!", "keywords", "conditions", "components"]),
    "releases": ({}, ["release!+"]),
    "release": ({"version!": VERSION, "date": r"\d{4}-\d\d-\d\d"}, ANY),
    "vendor": ({}, NAME),
    "name": ({}, NAME),
    "description": ({}, ANY),
    "url": ({}, r"(https://.+/)?"),
    "license": ({}, ANY),
    "conditions": ({}, ["condition!+"]),
    "condition": ({"id!": ANY}, ["description", "accept+", "require+", "deny+"]),
    "components": ({}, ["component!+"]),
    "component": ({"Cclass!": PART, "Cgroup!": PART, "Csub": r"[A-Za-z0-9][\w+():/\- .]{0,31}", "Cversion!": VERSION, "condition": ANY},
                  ["description!", "files!"]),
    "files": ({}, ["file!+"]),
    "file": ({"name!": r"[\w.-]+(/[\w.-]+)*/?", "category!": r"doc|header|include|library|object|source|linkerScript|other", "condition": ANY}, []),
}
FILTER = {"Dcore": CORES, "Dfpu": r"NO_FPU|FPU|SP_FPU|DP_FPU", "Dmve": r"NO_MVE|MVE|FP_MVE", "Ddsp": r"NO_DSP|DSP", "Dtz": r"NO_TZ|TZ",
          "Tcompiler": r"ARMCC|GCC|IAR|CLANG|\*", "condition": ANY}
for kind in ("accept", "require", "deny"):
    ELEMENTS[kind] = (FILTER, [])


def faults_of_element(element):
    if element.tag not in ELEMENTS:
        return [f"<{element.tag}>: no such element"]
    attributes, content = ELEMENTS[element.tag]
    found = [f"<{element.tag}>: no {key[:-1]}" for key in attributes if key.endswith("!") and key[:-1] not in element.attrib]
    patterns = {key.removesuffix("!"): pattern for key, pattern in attributes.items()}
    for key, value in element.attrib.items():
        if key not in patterns:
            found.append(f"<{element.tag}>: no attribute is called {key}")
        elif not re.fullmatch(patterns[key], value):
            found.append(f"<{element.tag}>: {key} is {value!r}")
    if isinstance(content, str):
        if not re.fullmatch(content, element.text or ""):
            found.append(f"<{element.tag}> holds {element.text!r}")
        return found + [f"<{child.tag}> in <{element.tag}>" for child in element]
    return found + faults_of_children(element, content)


def faults_of_children(element, content):
    found, tags = [], [child.tag for child in element]
    valid = {word.rstrip("!+"): word for word in content}
    found += [f"<{element.tag}>: no <{tag}>" for tag, word in valid.items() if "!" in word and tag not in tags]
    found += [f"<{element.tag}>: several <{tag}>" for tag, word in valid.items() if "+" not in word and tags.count(tag) > 1]
    for child in element:
        found += faults_of_element(child) if child.tag in valid else [f"<{child.tag}> in <{element.tag}>"]
    return found


def faults_of_pack(folder):
    """Of the description in an unpacked pack's folder."""
    (file,) = folder.glob("*.pdsc")
    try:
        tree = xml.etree.ElementTree.parse(file).getroot()
    except xml.etree.ElementTree.ParseError as error:
        return [f"{file.name}: {error}"]
    found = faults_of_element(tree)
    if found or tree.tag != "package":
        return found or [f"<{tree.tag}> is no package"]
    if file.name != f"{tree.findtext('vendor')}.{tree.findtext('name')}.pdsc":
        found.append(f"{file.name} is called otherwise in itself")
    defined = [condition.get("id") for condition in tree.iter("condition")]
    used = [element.get("condition") for element in tree.iter() if element.get("condition")]
    found += [f"condition {name} is there twice" for name in sorted(set(defined)) if defined.count(name) > 1]
    found += [f"condition {name} is not defined" for name in sorted(set(used) - set(defined))]
    found += [f"condition {name} is not used" for name in sorted(set(defined) - set(used))]
    names = [(entry.get("name"), entry.get("category")) for entry in tree.iter("file")] + [(tree.findtext("license", "LICENSE"), "doc")]
    for name, category in names:
        if not (folder / name).exists():
            found.append(f"{name} is not in the pack")
        if (category == "include") != name.endswith("/"):
            found.append(f"{name}: an include path ends with /, a file does not")
    return found
