"""What PlatformIO asks of library.json, and Arduino of library.properties.

The former are the fields of PlatformIO's documentation with the limits of its ManifestSchema; the latter is Arduino's library specification, as
arduino-lint reads it.
"""

import json
import re

from structure import faults_of, text

SLUG = re.compile(r"[a-z\d_-]{1,50}|\*")
FILE = re.compile(r"[\w.-]+(/[\w.-]+)*")
LIBRARY = {
    "name!": re.compile(r"[^:;/,@<>]{1,100}"),
    "version!": re.compile(r"\d+\.\d+\.\d+"),
    "description!": text(longest=1000),
    "keywords!": re.compile(r"[a-z\d+. -]{1,50}(,[a-z\d+. -]{1,50})*"),
    "homepage": re.compile(r"https://[\w.-]+(/[\w./-]*)?"),
    "license!": {"MIT"},  # SPDX's name of what is in LICENSE
    "platforms!": SLUG,
    "frameworks!": SLUG,
    "build": {"srcDir": FILE, "includeDir": FILE, "extraScript": FILE, "flags": str, "libArchive": bool},
    "examples": [{"name!": re.compile(r"[\w/-]{1,100}"), "base!": FILE, "files!": [FILE]}],
}
CATEGORIES = {"Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing", "Data Storage", "Data Processing", "Other"}
PROPERTIES = {
    "name!": re.compile(r"(?![Aa]rduino)[A-Za-z0-9][\w. -]{0,62}"),
    "version!": re.compile(r"\d+\.\d+\.\d+"),
    "author!": text(),
    "maintainer!": re.compile(r"(?![Aa]rduino).+"),
    "sentence!": text(),
    "paragraph!": text(shortest=0),
    "category!": CATEGORIES,
    "url!": re.compile(r"https?://[\w.-]+(/[\w./-]*)?"),
    "architectures!": re.compile(r"\*|[\w-]+(,[\w-]+)*"),
    "depends": str,
    "includes": re.compile(r"[\w.]+(,[\w.]+)*"),
    "dot_a_linkage": {"true", "false"},
    "precompiled": {"true", "full", "false"},
    "ldflags": re.compile(r"-l\w+( -l\w+)*"),
}


def missing(folder, names, who):
    return [f"{who}: {name} does not exist" for name in names if not (folder / name).exists()]


def faults_of_library(folder):
    """Of library.json."""
    try:
        library = json.loads((folder / "library.json").read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        return [f"library.json: {error}"]
    found = faults_of(library, LIBRARY, "library.json")
    if found:
        return found
    build = library.get("build", {})
    found += missing(folder, [build[key] for key in ("srcDir", "includeDir", "extraScript") if key in build], "library.json")
    files = [f"{example['base']}/{name}" for example in library.get("examples", []) for name in example["files"]]
    return found + missing(folder, files, "library.json")


def faults_of_properties(folder):
    """Of library.properties."""
    properties, found = {}, []
    for number, line in enumerate((folder / "library.properties").read_text(encoding="utf-8").splitlines(), 1):
        key, separator, value = line.partition("=")
        if not separator or key in properties:
            found.append(f"library.properties:{number}: {'cannot read' if not separator else 'a second'} {line!r}")
        properties[key] = value
    found += faults_of(properties, PROPERTIES, "library.properties")
    found += missing(folder / "src", filter(None, properties.get("includes", "").split(",")), "library.properties")
    if properties.get("precompiled") in ("true", "full"):
        for name in re.findall(r"-l(\w+)", properties.get("ldflags", "")):
            if not list(folder.glob(f"src/*/*/lib{name}.a")):
                found.append(f"library.properties: no src/<processor>/<floats>/lib{name}.a")
    return found
