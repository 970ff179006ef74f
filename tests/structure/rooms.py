"""The rooms of a house, which is a folder, and which of them a source file may include from."""

import pathlib
import re

# Rooms from the bottom to the top. A file includes from its own room and from those of the lines above its own; rooms of one line do
# not know each other. A file that is in no folder of the house is a room of its own.
FLOORS = {
    "runtime": (("cpu",), ("core",), ("frequencies", "rotary"), ("attention",), ("backward", "cache", "linear"), ("cuda",)),
    "runtime/attention": (("call",), ("masks", "operands"), ("check",), ("merge",), ("dispatch",), ("task",), ("plan",), ("masked",),
                          ("attention.cpp",)),
    "runtime/cuda": (("driver",), ("rotary",), ("rows",), ("attention",), ("backward", "cache", "linear"), ("device.cpp",)),
    "generators": (("math",), ("passes",), ("common",), ("rotary",), ("attention",), ("backward",), ("linear",)),
    "generators/passes": (("changed_names.h", "loop_mutator.h", "loop_name.h"), ("memory",), ("instructions",), ("order",), ("cuda",)),
}
# Rooms that see the public headers alone, or stand alone.
APART = {"runtime": ("cli", "embedded", "modules", "python"), "runtime/attention": (), "runtime/cuda": (), "generators": ("tuning",), "generators/passes": ()}
SOURCES = {".c", ".cpp", ".h", ".inc"}
INCLUDED = re.compile(r'^ *# *include *"([^"]+)"', re.M)


def sources(house):
    return sorted(path for path in house.rglob("*") if path.suffix in SOURCES)


def room_of(house, path):
    """The room that a path is in; None: it is outside."""
    return path.relative_to(house).parts[0] if path.is_relative_to(house) else None


def included(house, source):
    """The files that a source includes, which are found beside it first, as a compiler finds them, then from the house or what it is in."""
    for name in INCLUDED.findall(source.read_text(encoding="utf-8")):
        for folder in (source.parent, house, house.parent):
            path = pathlib.Path(folder / name).resolve()
            if path.is_file():
                yield path
                break


def arrows(house, floors, apart):
    """What is wrong with the includes of a house: 'file -> file' of each that leads upwards, and files in rooms that nobody knows."""
    floor_of = {room: floor for floor, rooms in enumerate(floors) for room in rooms}
    wrong = []
    for source in sources(house):
        room = room_of(house, source)
        if room in apart:
            continue
        name = source.relative_to(house).as_posix()
        if room not in floor_of:
            wrong.append(f"{name}: in no room")
            continue
        for target in included(house, source):
            other = room_of(house, target)
            if other is None or other == room:
                continue
            if floor_of.get(other, len(floors)) >= floor_of[room]:
                wrong.append(f"{name} -> {target.relative_to(house).as_posix()}")
    return wrong
