"""Instructions that kernels execute, exactly, and cycles that they are estimated to take, one call a case of one_call.

    count.py --program build/arm/bin/gyre_one_call … --record arm_64_neon.json             compare with the record
    count.py …                                       --record arm_64_neon.json --update    write it

Fails if a kernel executes more than 2 % more instructions than the record says, or has none there, or if one of arm_64_neon has
instructions of ARMv8.2. The record's name is the
target's; exits with 77 if the emulated processor cannot run it.
"""
import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import cycles
from program import disassemble, executions, straight_runs

TOLERANCE = 0.02


def part_of(function):
    """The kernel that a function is of, 'gcc' for the loops in C and what they call, None for all else."""
    if kernel := re.match(r'gyrekernel_gyre_(\w+?__[a-z0-9]+_[0-9]+_[a-z0-9]+?)(_argv)?(\.|$)', function):
        return kernel[1]
    return 'gcc' if re.match(r'plain_|_*expf', function) else None


def half_arithmetic(instructions):
    """Kernels of arm_64_neon that compute in f16, which takes ARMv8.2: they may only convert."""
    computes = re.compile(r'(?!fcvt(l2?|n2?)?\s)(f\w+|[su]cvtf)\s.*\b(v\d+\.[48]h|h\d+)\b')
    found = (i for i in instructions.values() if '__arm_64_neon' in i.function and computes.match(i.text))
    return sorted({f'{part_of(i.function)} has {i.text.split()[0]} of f16, which ARMv8.0 has not' for i in found})


def measure(options, case, instructions):
    """{kernel: {'instructions': …, processor: cycles}}"""
    executed = executions(options.emulator.split(), options.plugin, options.program, [case], instructions)
    parts = {}
    for count, run in straight_runs(executed, instructions):
        if part := part_of(run[0].function):
            parts.setdefault(part, []).append((count, run))
    figures = {}
    for part, runs in sorted(parts.items()):
        figures[part] = {'instructions': sum(count * len(run) for count, run in runs)}
        for processor in options.processors if options.analyzer else []:
            figures[part][processor] = round(cycles.estimate(options.analyzer, options.triple, processor, runs))
    return figures


def differences(case, recorded, measured):
    """What is wrong with the kernels, in words; the loops in C are only as constant as their compiler."""
    for kernel in recorded:
        if kernel not in measured:
            yield f'{case}: {kernel} is in the record, and was not executed'
    for kernel, figures in measured.items():
        if kernel == 'gcc':
            continue
        if kernel not in recorded:
            yield f'{case}: {kernel} is not in the record'
        elif figures['instructions'] > (1 + TOLERANCE) * recorded[kernel]['instructions']:
            yield (f'{case}: {kernel} executes {figures["instructions"]} instructions, '
                   f'{figures["instructions"] / recorded[kernel]["instructions"] - 1:+.1%} of {recorded[kernel]["instructions"]}')


def version(*command):
    return re.search(r'\d+\.\d+(\.\d+)*', subprocess.run(command, capture_output=True, text=True).stdout)[0]


def write(record, made_with, cases):
    """A line a kernel."""
    blocks = (f'  {json.dumps(case)}: {{\n' +
              ',\n'.join(f'   {json.dumps(kernel)}: {json.dumps(figures)}' for kernel, figures in kernels.items()) + '\n  }'
              for case, kernels in cases.items())
    record.write_text(f'{{\n "made_with": {json.dumps(made_with)},\n "cases": {{\n' + ',\n'.join(blocks) + '\n }\n}\n')


def show(case, measured, recorded):
    for kernel, figures in measured.items():
        before = recorded.get(case, {}).get(kernel, {})
        cells = (f'{name} {value}' + (f' ({value / before[name] - 1:+.1%})' if before.get(name, value) != value else '')
                 for name, value in figures.items())
        print(f'{case:28} {kernel:44} ' + '  '.join(cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('program', 'plugin', 'emulator', 'objdump', 'record'):
        parser.add_argument('--' + name, required=True)
    parser.add_argument('--triple', default='aarch64')
    parser.add_argument('--processors', nargs='*', default=[], help='by llvm-mca\'s names; without: instructions only')
    parser.add_argument('--update', action='store_true')
    parser.add_argument('cases', nargs='*', help='all, if none is named')
    options = parser.parse_args()
    os.environ['GYRE_TARGET'] = Path(options.record).stem
    options.analyzer = cycles.find_analyzer()
    if options.update and options.processors and not options.analyzer:
        sys.exit('count.py: --update needs llvm-mca')

    record = Path(options.record)
    recorded = json.loads(record.read_text())['cases'] if record.exists() else {}
    listing = subprocess.run([*options.emulator.split(), options.program], capture_output=True, text=True)
    if listing.returncode:
        print(listing.stderr, end='', file=sys.stderr)
        sys.exit(listing.returncode)
    known = listing.stdout
    cases = options.cases or [case for case in known.split() if options.update or not case.startswith('plain')]
    instructions = disassemble(options.objdump, options.program)
    results, wrong = {}, half_arithmetic(instructions)
    for case in cases:
        results[case] = measure(options, case, instructions)
        show(case, results[case], recorded)
        wrong += differences(case, recorded.get(case, {}), results[case])
    if options.update:
        made_with = {'qemu': version(*options.emulator.split(), '--version')}
        if options.processors:
            made_with['llvm-mca'] = version(options.analyzer, '--version')
        write(record, made_with, {**recorded, **results})
    elif wrong:
        sys.exit('\n'.join(wrong))


if __name__ == '__main__':
    main()
