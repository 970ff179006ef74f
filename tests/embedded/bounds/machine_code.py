"""Functions in the listing of objdump -dr: the bytes of stack that each takes, and what it calls."""

import dataclasses
import re

# What moves the stack pointer down. Everything else that writes to it must restore or align it.
ARM_LISTS = re.compile(r"(?:push|stmdb(?:\.w)?\s+sp!,)\s*\{(.*)\}$")
ARM_VECTORS = re.compile(r"vpush\s+\{([ds])(\d+)(?:-[ds](\d+))?\}$")
BEFORE_STORE = re.compile(r"st[rp]d?(?:\.w)?\s.*\[sp, #-(\d+)\]!$")
SUBTRACTION = re.compile(r"subw?(?:\.w)?\s+sp, (?:sp, )?#(0x[0-9a-f]+|\d+)(?:, lsl #(\d+))?$")
RISCV_STEP = re.compile(r"addi?\s+sp,sp,-(\d+)$")
WRITES = re.compile(r"(?:movw?|subs?w?|adds?w?|and|bic|orr)(?:\.w|\.n)?\s+sp, |\w+\s+sp,\w")  # RISC-V's has no blank
RESTORES = re.compile(r"addi?\s+sp,sp,\d+$|(?:addw?(?:\.w)?\s+sp, (?:sp, )?#|(?:subs?w?(?:\.w)?|add)\s+sp, (?:r7|r11|fp|x29), #)")
ALIGNING = re.compile(r"bfc\s+(\w+), #0, #(\d+)$")
FROM_FRAME = re.compile(r"(?:subw?|subs|sub\.w|add|add\.w|mov)\s+(\w+), (?:r7|fp|r11)(?:, #\d+)?$")
CALL = re.compile(r"(?:bl|b|b\.w|b\.n|jal|j)\s+(?:ra,)?[0-9a-f]+ <(?!\.L)([\w.$]+)>$")
RELOCATION = re.compile(r"^\s+[0-9a-f]+: R_\w*(?:CALL|JUMP|JAL)\w*\s+(?!\.L)([\w.$]+)")
INDIRECT = re.compile(r"(?:blx|blr|br)\s+\w+$|bx\s+(?!lr$)\w+$|(?:jalr|jr)\s+(?!(?:ra|t1)$)\w+")
FAR_CALL = re.compile(r"(?:jalr\s+(ra)|jr\s+(t1))$")  # of RISC-V, to where auipc has led just before: a relocation names it


@dataclasses.dataclass
class Function:
    """What one function does with the stack."""

    stack: int = 0
    calls: set = dataclasses.field(default_factory=set)
    indirect: bool = False
    dynamic: list = dataclasses.field(default_factory=list)  # instructions that move the stack pointer by what is not a constant


def step_down(instruction):
    """Bytes by which an instruction lowers the stack pointer, or None."""
    if match := ARM_LISTS.match(instruction):
        return 4 * len(match[1].split(","))
    if match := ARM_VECTORS.match(instruction):
        return (8 if match[1] == "d" else 4) * (int(match[3] or match[2]) - int(match[2]) + 1)
    if match := BEFORE_STORE.match(instruction) or RISCV_STEP.match(instruction):
        return int(match[1])
    if match := SUBTRACTION.match(instruction):
        return int(match[1], 0) << int(match[2] or 0)
    return None


def add(function, name, instruction, origins):
    """One instruction. `origins`: of registers, whether they hold the frame's pointer, or the stack's, rounded down."""
    down = step_down(instruction)
    if down is not None:
        function.stack += down
    elif match := re.match(r"mov\s+sp, (\w+)$", instruction):
        if match[1] in ("r7", "fp", "r11", "x29") or origins.get(match[1]) == "frame":
            pass
        elif isinstance(origins.get(match[1]), int):
            function.stack += origins[match[1]]
        else:
            function.dynamic.append(instruction)
    elif WRITES.match(instruction) and not RESTORES.match(instruction):
        function.dynamic.append(instruction)
    elif match := ALIGNING.match(instruction):
        origins[match[1]] = (1 << int(match[2])) - 1
    elif match := FROM_FRAME.match(instruction):
        origins[match[1]] = "frame"
    elif match := re.match(r"auipc\s+(\w+),", instruction):
        origins[match[1]] = "here"
    elif INDIRECT.match(instruction):
        function.indirect = True
    elif match := FAR_CALL.match(instruction):
        function.indirect |= origins.pop(match[1] or match[2], None) != "here"
    elif (match := CALL.match(instruction)) and match[1] != name:
        function.calls.add(match[1])


def functions(listing):
    """{name: Function}"""
    found, name, origins = {}, None, {}
    for line in listing.splitlines():
        if match := re.match(r"^[0-9a-f]+ <(?!\.L)([\w.$]+)>:$", line):
            name, origins = match[1], {}
            found[name] = Function()
        elif match := RELOCATION.match(line):
            found[name].calls.add(match[1])
        elif name and (match := re.match(r"^\s+[0-9a-f]+:\s+(.*)$", line)):
            instruction = re.sub(r"\s*(?:[@;]|//|# ).*$", "", match[1]).strip()
            add(found[name], name, instruction, origins)
    return found
