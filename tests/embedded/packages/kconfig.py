"""Does what a module of one option needs of Kconfig: finds what it depends on, resolved against the settings of a board."""

import re


class KconfigError(Exception):
    """A setting that does not exist, or whose dependencies do not hold."""


def dependencies(text):
    """{option: expressions that must hold}."""
    found, option = {}, None
    for line in text.splitlines():
        if match := re.match(r"config (\w+)$", line):
            option = match[1]
            found[option] = []
        elif match := re.match(r"\tdepends on (.+)$", line):
            found[option].append(match[1])
    return found


def holds(expression, settings):
    words = re.sub(r"\b[A-Z]\w*\b", lambda name: str(name[0] in settings), expression)
    return eval(words.replace("&&", " and ").replace("||", " or ").replace("!", " not "), {"__builtins__": {}})


def resolve(kconfig, configuration, hardware):
    """The names that are y: those of the hardware, and of a prj.conf. An option's dependencies must hold."""
    options = dependencies(kconfig)
    asked = re.findall(r"^CONFIG_(\w+)=y$", configuration, re.M)
    settings = set(hardware) | set(asked)
    for name in asked:
        for expression in options.get(name, []):
            if not holds(expression, settings):
                raise KconfigError(f"{name} depends on {expression}")
    return settings
