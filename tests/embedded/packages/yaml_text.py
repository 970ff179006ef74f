"""Reads as much of YAML as the module's files have: mappings and lists by indentation, strings, numbers, true and false."""

import re


class YamlError(Exception):
    """A line that is none of these."""


def scalar(word):
    if re.fullmatch(r'"[^"\\]*"|\'[^\']*\'', word):
        return word[1:-1]
    if re.fullmatch(r"-?\d+", word):
        return int(word)
    if word in ("true", "false"):
        return word == "true"
    if re.search(r"[\[\]{}\"'&*|>%@`]|: |:$| #", word):
        raise YamlError(f"cannot read {word}")
    return word


def read(text):
    """The file's value."""
    lines = []
    for line in text.splitlines():
        if "\t" in line:
            raise YamlError(f"a tab in {line!r}")
        if line.strip() and not line.lstrip().startswith("#"):
            lines.append((len(line) - len(line.lstrip()), line.strip()))
    value = block(lines, lines[0][0]) if lines else None
    if lines:
        raise YamlError(f"{lines[0][1]!r} is indented as nothing before it")
    return value


def block(lines, indent):
    """Takes the lines of one mapping or list."""
    value = [] if lines[0][1].startswith("- ") else {}
    while lines and lines[0][0] == indent:
        line = lines.pop(0)[1]
        if isinstance(value, list):
            if not line.startswith("- "):
                raise YamlError(f"{line!r} in a list")
            value.append(scalar(line[2:].strip()))
            continue
        matched = re.fullmatch(r"([\w.-]+):(?: +(.+))?", line)
        if not matched:
            raise YamlError(f"{line!r} in a mapping")
        key, word = matched.groups()
        if key in value:
            raise YamlError(f"{key} is there twice")
        is_list = bool(lines) and lines[0][1].startswith("- ")
        if word is not None:
            value[key] = scalar(word)
        elif lines and (lines[0][0] > indent or (is_list and lines[0][0] == indent)):
            value[key] = block(lines, lines[0][0])
        else:
            value[key] = None
    return value
