"""A program for another processor: its instructions, and how often a run of it executes each."""
import re
import subprocess
import tempfile
from dataclasses import dataclass


@dataclass(frozen=True)
class Instruction:
    address: int
    text: str      # as an assembler takes it; branches lead to themselves
    function: str


def disassemble(objdump, program):
    """All instructions, by address."""
    listing = subprocess.run([objdump, '-d', '--no-show-raw-insn', program], check=True, capture_output=True, text=True).stdout
    instructions, function = {}, ''
    for line in listing.splitlines():
        if header := re.match(r'[0-9a-f]+ <(.*)>:$', line):
            function = header[1]
        elif found := re.match(r' *([0-9a-f]+):\t(.*)', line):
            text = re.sub(r'\s*(//|;|@).*', '', found[2])
            text = re.sub(r'\b(0x)?[0-9a-f]+ <.*>', '.', text)
            address = int(found[1], 16)
            instructions[address] = Instruction(address, text, function)
    return instructions


def executions(emulator, plugin, program, arguments, instructions):
    """How often each instruction is executed: a dictionary of addresses."""
    with tempfile.NamedTemporaryFile('r') as counts:
        subprocess.run([*emulator, '-plugin', f'{plugin},out={counts.name}', program, *arguments], check=True,
                       stdout=subprocess.DEVNULL)
        blocks = [[int(field, 16) for field in line.split()] for line in counts]
    addresses = sorted(instructions)
    place = {address: index for index, address in enumerate(addresses)}
    executed = {}
    for first, last, entered in blocks:
        for address in addresses[place[first]:place[last] + 1] if first in place else ():
            executed[address] = executed.get(address, 0) + entered
    return executed


def straight_runs(executed, instructions):
    """Instructions that are only ever executed one after the other, with how often: what a processor sees as a block,
    wherever the emulator cut it."""
    runs, previous = [], None
    for address in sorted(instructions):
        instruction, count = instructions[address], executed.get(address, 0)
        if previous and runs[-1][0] == count and previous.function == instruction.function and not is_branch(previous.text):
            runs[-1][1].append(instruction)
        else:
            runs.append((count, [instruction]))
        previous = instruction
    return [(count, run) for count, run in runs if count]


def is_branch(text):
    condition = r'\.?(eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)'
    return re.match(rf'(b|bl|bx|blx)({condition})?(\.[nw])?\s|(br|blr|cbn?z|tbn?z)\s|ret|(pop|ldm\w*|ldr\w*)\s.*\bpc\b', text)
