"""Cycles that straight runs of instructions take on a processor, by llvm-mca: each at the rate at which it goes on and on."""
import re
import shutil
import subprocess

ITERATIONS = 100


def find_analyzer():
    """llvm-mca, or None. Versions differ: 19 lets a Neoverse N1 begin 8 micro-operations a cycle, as Arm's guide to it does, 22
    only 3. The record is 19's."""
    names = [f'llvm-mca-{version}' for version in (19, 20, 21, 22, 18)] + ['llvm-mca']
    return next(filter(None, map(shutil.which, names)), None)


def estimate(analyzer, triple, processor, runs):
    """The cycles of all runs, each as often as it is executed."""
    regions = ''.join(f'# LLVM-MCA-BEGIN {index}\n' + '\n'.join(i.text for i in run) + '\n# LLVM-MCA-END\n'
                      for index, (_, run) in enumerate(runs))
    result = subprocess.run([analyzer, f'-mtriple={triple}', f'-mcpu={processor}', f'-iterations={ITERATIONS}',
                             '-instruction-info=0', '-resource-pressure=0'],
                            input=regions, capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(f'llvm-mca for {processor}: {result.stderr[:400]}')
    totals = [int(total) for total in re.findall(r'^Total Cycles:\s+(\d+)', result.stdout, re.M)]
    assert len(totals) == len(runs), f'{len(totals)} estimates of {len(runs)} runs'
    return sum(count * total / ITERATIONS for (count, _), total in zip(runs, totals))
