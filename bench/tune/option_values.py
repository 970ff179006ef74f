"""Types of options, as argparse calls them: each takes the text and returns the value, or says what it expected."""

import argparse
import re

LARGEST = 1 << 30


def whole(least, most=LARGEST):
    def parse(text):
        if not re.fullmatch(r"-?\d{1,15}", text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"'{text}'; expected a whole number from {least} to {most}")
        return int(text)

    return parse


def positive(text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}'; expected a number above 0")
    return value


def not_negative(text):
    return 0.0 if re.fullmatch(r"0+(\.0*)?", text) else positive(text)


def knob(text):
    match = re.fullmatch(r"([A-Za-z_][\w.]*)=(-?\d{1,9})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}'; expected name=number")
    return match[1], int(match[2])


def name(text):
    if not re.fullmatch(r"[\w.+-]{1,80}", text):
        raise argparse.ArgumentTypeError(f"'{text}'; expected letters, digits, and _ . + -")
    return text
