"""What ends the program early; tune.py turns it into one line on stderr and an exit code, as the rest of gyre does."""


class UsageError(Exception):
    """Bad usage or input: exit code 2."""


class RunError(Exception):
    """A failure while running: exit code 1."""


def refuse(subject, was, expected):
    raise UsageError(f"{subject}: {was}; expected {expected}")
