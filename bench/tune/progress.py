"""What goes on: on a terminal one line that is always current, elsewhere plain lines."""

import shutil
import sys
from dataclasses import dataclass

ERASE = "\r\x1b[K"


@dataclass(frozen=True)
class Whole:
    """Where one study stands among several."""

    number: int  # of studies before it
    count: int
    seconds_each: float  # None: not known

    def text(self, seconds_left):
        """seconds_left: of this study; None: not known."""
        place = f"[{self.number + 1} of {self.count}"
        if self.seconds_each is None:
            return place + "] "
        here = self.seconds_each if seconds_left is None else max(seconds_left, 0)
        return f"{place}, {hours(here + (self.count - self.number - 1) * self.seconds_each)} left] "


class Progress:
    def __init__(self, stream=sys.stdout):
        self.stream, self.live, self.whole = stream, stream.isatty(), None

    def show(self, text, seconds_left=None):
        """Replaces the live line; elsewhere nothing. seconds_left: of the study that goes on."""
        if self.live:
            text = (self.whole.text(seconds_left) if self.whole else "") + text
            self.stream.write(ERASE + text[: shutil.get_terminal_size().columns - 1])
            self.stream.flush()

    def line(self, text):
        """A line that stays."""
        self.stream.write((ERASE if self.live else "") + text + "\n")
        self.stream.flush()


def minutes(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def hours(seconds):
    return f"{int(seconds) // 3600} h {int(seconds) % 3600 // 60:02d} min"
