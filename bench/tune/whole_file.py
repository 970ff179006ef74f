"""Writing a file that is whole at every moment, whatever ends this process."""

import os

from errors import RunError


def write_whole(path, text):
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        raise RunError(f"{path}: cannot be written: {error}") from None
