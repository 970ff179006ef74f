"""Cycles that a Cortex-M4 takes for what a program executes, by the tables of its Technical Reference Manual (DDI 0439, 3.3.1 and 7.2.3),
without wait states: what a core with one instruction at a time takes can be added up.

    cortex_m4.py --plugin block_counts.so --objdump arm-none-eabi-objdump --most 90 PROGRAM qemu-system-arm OPTION… -kernel

Fails if the library's functions take more than `most` percent of the cycles of plain C's.
"""
import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / 'bench' / 'arm'))
from program import disassemble, executions  # noqa: E402

CONDITION = r'(eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)'
FILLING = 2  # of 1 to 3 cycles that the pipeline takes after a branch
ARITHMETIC = re.compile(r'v(n?mul|add|sub|fn?m[as]|n?ml[as]|div|sqrt|cvt)')
ALONE = re.compile(r'v?(ldr|str)s?[bh]?(\.w)?\s')  # one register


def registers(text):
    listed = re.search(r'\{(.*)\}', text)[1]
    count = 0
    for part in listed.split(','):
        ends = re.fullmatch(r'\s*s(\d+)-s(\d+)\s*', part)
        count += int(ends[2]) - int(ends[1]) + 1 if ends else 1
    return count


def waits(text, following):
    """True if the result of floating-point arithmetic is what the next instruction begins with."""
    if not ARITHMETIC.match(text):
        return False
    result = re.search(r'\bs\d+\b', text)
    used = re.findall(r'\bs\d+\b', following)
    reads_first = re.match(r'v(str|cmp|mov|fn?m|n?ml)', following)
    return bool(result) and result[0] in (used if reads_first else used[1:])


def cycles(text, before='', following=''):
    """Returns the cycles of an instruction that is no branch."""
    operation = text.split()[0]
    if re.match(r'v?(ldm|stm)|v?(push|pop)', operation):
        count = 1 + registers(text) + (FILLING if 'pc' in text else 0)
    elif re.match(r'(ldr|str)d', operation):
        count = 3
    elif re.match(r'v?ldr|vstr', operation):
        count = 1 if ALONE.match(before) else 2
    elif re.match(r'v(div|sqrt)', operation):
        count = 14
    elif re.match(r'v(fn?m[as]|n?ml[as])', operation):
        count = 3
    elif re.fullmatch(r'i[te]+', operation):
        count = 0
    else:
        count = 1
    return count + waits(text, following)


def total(instructions, executed, functions):
    """(instructions, cycles) of functions whose names match."""
    addresses = sorted(instructions)
    counted = taken = 0
    for place, address in enumerate(addresses):
        here, times = instructions[address], executed.get(address, 0)
        if not times or not re.match(functions, here.function):
            continue
        counted += times
        before = instructions[addresses[place - 1]].text if place and executed.get(addresses[place - 1]) else ''
        following = addresses[place + 1] if place + 1 < len(addresses) else None
        conditional = re.match(rf'(b\.?{CONDITION}(\.[nw])?|cbn?z)\s', here.text)
        if conditional:
            goes_on = min(times, executed.get(following, 0))
            taken += times + FILLING * (times - goes_on)
        elif re.match(r'(b|bl|bx|blx)(\.[nw])?\s', here.text):
            taken += times * (1 + FILLING)
        else:
            taken += times * cycles(here.text, before, instructions[following].text if following else '')
    return counted, taken


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--plugin', required=True)
    parser.add_argument('--objdump', required=True)
    parser.add_argument('--most', type=int, required=True)
    parser.add_argument('program')
    parser.add_argument('emulator', nargs=argparse.REMAINDER)
    options = parser.parse_args()
    instructions = disassemble(options.objdump, options.program)
    *emulator, kernel = options.emulator
    executed = executions(emulator, options.plugin, kernel, [options.program], instructions)
    ours, theirs = (total(instructions, executed, functions) for functions in (r'gyre(?!_embedded_(angles|frequencies))', 'plain'))
    if not ours[1] or not theirs[1]:
        sys.exit(f'{options.program}: nothing was counted')
    percent = 100 * ours[1] / theirs[1]
    print(f'gyre: {ours[0]} instructions, {ours[1]} cycles; gcc: {theirs[0]}, {theirs[1]}; {percent:.0f} % of the cycles')
    if percent > options.most:
        sys.exit(f'expected at most {options.most} %')


if __name__ == '__main__':
    main()
