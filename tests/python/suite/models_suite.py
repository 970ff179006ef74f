"""Runs Transformers' own model tests with Gyre, those that fail once more without, and tells what differs.

    git clone https://github.com/huggingface/transformers
    python models_suite.py transformers [--models llama gemma2 …] [--gyre attention rotations sdpa]

Needs what these tests need (pip install pytest parameterized datasets accelerate), a PyTorch, and the package gyre with its operators.
Writes one row a model and way; lists each test that fails with Gyre alone. Returns 1 if there is one, or if a run took no call.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

MODELS = ("llama", "gemma2", "gemma3", "gpt_neox", "qwen3", "gpt_oss", "mistral", "deepseek_v3")
WAYS = ("attention", "rotations", "sdpa")
LEFT_OUT = "fsdp or tensor_parallel or tp_"  # several processes that share a model: nothing of attention's
# Models that PyTorch's kernel on the CPU, which is what is taken over, is never asked for: sinks, and values of another head size than keys.
WITHOUT_SDPA = ("gpt_oss", "deepseek_v3")
# Tests that the model's own eager attention does not pass either, where Transformers skips that for a reason of the model's.
NOT_OF_ATTENTION = {
    ("gpt_oss", "GptOssModelTest::test_sdpa_padding_matches_padding_free_with_position_ids"): "routers see padding, and choose other experts",
}


def outcomes(file):
    """What became of each test, Class::name or name: "passed", "skipped", or the first line of why it failed."""
    found = {}
    for case in ElementTree.parse(file).iter("testcase"):
        group = case.get("classname", "").rpartition(".")[2]  # a class, or the module
        name = case.get("name") if group.startswith("test_") else f"{group}::{case.get('name')}"
        failure = next((child for child in case if child.tag in ("failure", "error")), None)
        if failure is not None:
            found[name] = "failed: " + (failure.get("message") or failure.text or "").splitlines()[0][:150]
        else:
            found[name] = "skipped" if case.find("skipped") is not None else "passed"
    return found


def run(tree, model, words, seconds, names=()):
    """The outcomes of a model's tests, all or those of these names, and what pytest printed. Errors: RuntimeError, if it did not get so far."""
    with tempfile.TemporaryDirectory(prefix="gyre-models-suite-") as folder:
        report = pathlib.Path(folder) / "report.xml"
        file = f"tests/models/{model}/test_modeling_{model}.py"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", f"--junit-xml={report}", *words,
                   *([f"{file}::{name}" for name in names] or [file])]
        paths = [str(pathlib.Path(__file__).parent), "src", os.environ.get("PYTHONPATH", "")]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=seconds)
        if not report.exists():
            raise RuntimeError(f"{model}: pytest ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")
        return outcomes(report), done.stdout


def count(found, what):
    return sum(outcome.startswith(what) for outcome in found.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=pathlib.Path, help="Transformers' sources")
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--gyre", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--seconds", type=float, default=3600, help="after which a run counts as hanging, 3600")
    parser.add_argument("--left-out", metavar="WORDS", help="tests whose names contain one of these are left out, say compil: those take minutes each",
                        nargs="+", default=[])
    options = parser.parse_args()
    left_out = " or ".join([LEFT_OUT, *options.left_out])
    print("| model | way | calls | passed | failed | of them without Gyre, too | with Gyre alone |\n" + "|---" * 7 + "|")
    wrong = False
    for model in options.models:
        for way in options.gyre:
            if way == "sdpa" and model in WITHOUT_SDPA:
                continue
            found, printed = run(options.tree, model, ["-p", "gyre_takes", "--gyre", way, "-k", f"not ({left_out})"], options.seconds)
            told = re.search(r"^gyre: (\d+) calls", printed, re.M)
            calls = int(told[1]) if told else 0
            failed = {name: why for name, why in found.items() if why.startswith("failed")}
            plain = run(options.tree, model, [], options.seconds, failed)[0] if failed else {}
            new = {name: why for name, why in failed.items() if not plain.get(name, "").startswith("failed")}
            known = {name: new.pop(name) for name in list(new) if (model, name) in NOT_OF_ATTENTION}
            print(f"| {model} | {way} | {calls} | {count(found, 'passed')} | {len(failed)} | {count(plain, 'failed')} "
                  f"| {len(new)} |", flush=True)
            for name, why in new.items():
                print(f"    {name}: {why} (without: {plain.get(name)})", flush=True)
            for name in known:
                print(f"    {name}: failed, as with eager: {NOT_OF_ATTENTION[model, name]}", flush=True)
            wrong |= bool(new) or calls == 0
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
