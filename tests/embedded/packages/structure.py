"""What may be in a file of data, as Python values, and what a value has that may not be.

    {"name!": str, "files": [str]}    a mapping with these keys alone; "!" ends one that must be there
    [rule]                            a list of such values
    {"one", "other"}                  one of these words
    re.compile("[a-z]+")              a string that matches as a whole
    str, int, bool                    a value of this type
    function                          one that returns what is wrong, or nothing
"""

import re


def faults_of(value, rule, place):
    """What is wrong with a value, each with the place that it is at."""
    if isinstance(rule, dict):
        return faults_of_mapping(value, rule, place)
    if isinstance(rule, list):
        if not isinstance(value, list):
            return [f"{place}: got {value!r}, expected a list"]
        return [fault for i, item in enumerate(value) for fault in faults_of(item, rule[0], f"{place}[{i}]")]
    if isinstance(rule, set):
        return [] if value in rule else [f"{place}: got {value!r}, valid: {', '.join(sorted(rule))}"]
    if isinstance(rule, re.Pattern):
        matches = isinstance(value, str) and rule.fullmatch(value)
        return [] if matches else [f"{place}: got {value!r}, expected {rule.pattern}"]
    if isinstance(rule, type):
        return [] if type(value) is rule else [f"{place}: got {value!r}, expected {rule.__name__}"]
    wrong = rule(value)
    return [f"{place}: {wrong}"] if wrong else []


def faults_of_mapping(value, rule, place):
    if not isinstance(value, dict):
        return [f"{place}: got {value!r}, expected a mapping"]
    rules = {key.removesuffix("!"): of_key for key, of_key in rule.items()}
    found = [f"{place}: no {key[:-1]}" for key in rule if key.endswith("!") and key[:-1] not in value]
    for key, item in value.items():
        at = f"{place}.{key}"
        found += faults_of(item, rules[key], at) if key in rules else [f"{at}: no such key"]
    return found


def text(shortest=1, longest=10000):
    """A string of so many characters."""
    return re.compile(f"[\\s\\S]{{{shortest},{longest}}}")
