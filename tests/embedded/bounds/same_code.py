"""Whether llc makes the same machine code of every kernel for another processor.

    same_code.py FOLDER_OF_LL PROCESSOR LLC -mcpu=… OPTION…
"""
import pathlib
import re
import subprocess
import sys

NAMES_THE_PROCESSOR = re.compile(r'^\s*\.(cpu|arch|eabi_attribute)\b.*\n', re.M)


def code(kernel, words):
    made = subprocess.run([*words, '-float-abi=hard', '-O3', kernel, '-o', '-'], check=True, capture_output=True, text=True).stdout
    return NAMES_THE_PROCESSOR.sub('', made)


def main():
    folder, processor, *words = sys.argv[1:]
    others = [f'-mcpu={processor}' if word.startswith('-mcpu=') else word for word in words]
    kernels = sorted(pathlib.Path(folder).glob('*.ll'))
    differ = [kernel.name for kernel in kernels if code(kernel, words) != code(kernel, others)]
    print(f'{len(kernels)} kernels, of other code for {processor}: {len(differ)}', *differ)
    sys.exit(others == words or not kernels or bool(differ))


main()
