"""What goes on: on a terminal one line that is always current, elsewhere plain lines."""

import shutil
import sys

ERASE = "\r\x1b[K"


class Progress:
    def __init__(self, stream=sys.stdout):
        self.stream, self.live = stream, stream.isatty()

    def show(self, text):
        """Replaces the live line; elsewhere nothing."""
        if self.live:
            self.stream.write(ERASE + text[: shutil.get_terminal_size().columns - 1])
            self.stream.flush()

    def line(self, text):
        """A line that stays."""
        self.stream.write((ERASE if self.live else "") + text + "\n")
        self.stream.flush()


def minutes(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
