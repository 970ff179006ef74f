"""The list of what is linked, compiled in, installed and used to build, with versions and licences, as SPDX 2.3.

    python sbom.py OUT --version 0.1.0 [--known NAME=VERSION …] [--binary FILE …]

Components are those of components.json, Python packages those of requirements*.txt. A library that a binary needs, or a package that
is required, without an entry there stops this.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# What requirements*.txt are for, as SPDX calls it.
USES = {"requirements.txt": "BUILD_TOOL_OF", "requirements-test.txt": "TEST_TOOL_OF", "requirements-tune.txt": "DEV_TOOL_OF",
        "requirements-format.txt": "TEST_TOOL_OF", "requirements-lint.txt": "DEV_TOOL_OF", "requirements-wheel.txt": "BUILD_TOOL_OF"}
RELATIONS = {"linked": "DYNAMIC_LINK", "compiled": "STATIC_LINK", "opened": "OPTIONAL_DEPENDENCY_OF"}


def needed_libraries(binary):
    listing = subprocess.run(["readelf", "-d", binary], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*?)\]", listing)


def required_packages():
    """(file, name, version) of every pinned package."""
    for file, _ in USES.items():
        for name, version in re.findall(r"^([\w.-]+)==([\w.+]+)", (HERE / file).read_text(encoding="utf-8"), flags=re.M):
            yield file, name, version


def identifier(name, version=""):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", f"{name}-{version}" if version else name)


def package(name, version, licence, comment=""):
    entry = {"SPDXID": identifier(name, version), "name": name, "versionInfo": version or "the system's", "downloadLocation": "NOASSERTION",
             "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION"}
    return {**entry, "comment": comment} if comment else entry


def document(version, known, binaries):
    table = json.loads((HERE / "components.json").read_text(encoding="utf-8"))
    needed = sorted({library for binary in binaries for library in needed_libraries(binary)} - {"libgyre.so"})
    needed = [library for library in needed if not library.startswith("libgyre.so.")]
    owners = {library: name for name, c in table["components"].items() for library in c.get("libraries", [])}
    missing = [f"{library}, which is linked" for library in needed if library not in owners]
    missing += sorted({f"{name}, of {file}" for file, name, _ in required_packages() if name not in table["python"]})
    missing += sorted({f"{file.name}, which is not among USES" for file in HERE.glob("requirements*.txt")} -
                      {f"{file}, which is not among USES" for file in USES})
    if missing:
        sys.exit("sbom.py: components.json has no " + "; no ".join(missing))
    this = package("gyre", version, "MIT")
    packages, relations = {this["SPDXID"]: this}, []
    relate = lambda a, kind, b: relations.append({"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b})
    relate("SPDXRef-DOCUMENT", "DESCRIBES", this["SPDXID"])
    for name, component in table["components"].items():
        linked = [library for library in component.get("libraries", []) if library in needed]
        if component["kind"] == "linked" and not linked:
            continue
        entry = package(name, known.get(name, ""), component["licence"], ", ".join(linked))
        packages[entry["SPDXID"]] = entry
        a, b = this["SPDXID"], entry["SPDXID"]
        relate(*((b, RELATIONS["opened"], a) if component["kind"] == "opened" else (a, RELATIONS[component["kind"]], b)))
    for file, name, pinned in required_packages():
        entry = package(name, pinned, table["python"][name])
        packages.setdefault(entry["SPDXID"], entry)
        relate(entry["SPDXID"], USES[file], this["SPDXID"])
    moment = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"gyre-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/gyre-{version}",
            "creationInfo": {"created": moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: cmake/sbom.py"]},
            "hasExtractedLicensingInfos": [{"licenseId": "LicenseRef-NVIDIA", "name": "NVIDIA's", "extractedText": "https://docs.nvidia.com/cuda/eula"},
                                           {"licenseId": "LicenseRef-Matplotlib", "name": "Matplotlib's", "extractedText": "https://matplotlib.org/stable/project/license.html"}],
            "packages": list(packages.values()), "relationships": relations}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--known", nargs="*", default=[], metavar="NAME=VERSION")
    parser.add_argument("--binary", nargs="*", default=[])
    arguments = parser.parse_args()
    known = dict(word.split("=", 1) for word in arguments.known if not word.endswith("="))
    text = json.dumps(document(arguments.version, known, arguments.binary), indent=2) + "\n"
    arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
