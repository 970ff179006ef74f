"""Stage: the oracle suite of the tests on the device, each file of tests a process with its counts, several at a time."""

import concurrent.futures
import re

import programs

FILES = ("rotary/rotary", "rotary/angles", "rotary/memory", "cuda/cache_append_cuda", "cuda/attention_cuda", "cuda/attention_cuda_bias",
         "cuda/attention_cuda_decode", "cuda/attention_cuda_dropout", "cuda/attention_cuda_f32", "cuda/attention_cuda_function",
         "cuda/attention_cuda_hopper", "cuda/attention_cuda_lists", "cuda/attention_cuda_narrow_keys", "cuda/attention_cuda_padded",
         "cuda/attention_cuda_scores", "cuda/attention_cuda_sizes", "cuda/backward_cuda", "cuda/backward_cuda_scores", "cuda/linear_cuda", "cuda/masked_keys_cuda",
         "cuda/merge_cuda")
OF_THE_EMULATED_DEVICE = "*on such devices alone"  # it becomes devices of other kinds
SECONDS = 120  # of one file: a test that hangs is one file's loss
AT_ONCE = 6


def tested(name, tests):
    command = [tests, f"--source-file=*{name}_test.cpp", f"--test-case-exclude={OF_THE_EMULATED_DEVICE}", "--no-colors"]
    status, said = programs.run(command, SECONDS)
    if status is None:
        return {"tests": name, "ok": False, "error": said}
    counts = re.search(r"test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed", said)
    cases, passed, failed = map(int, counts.groups()) if counts else (0, 0, 0)
    result = {"tests": name, "cases": cases, "passed": passed, "failed": failed, "status": status,
              "ok": status == 0 and cases > 0}
    return result if result["ok"] else {**result, "error": said[-6000:]}


def run(_, options, say):
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for result in pool.map(lambda name: tested(name, options.tests), FILES[:options.files]):
            say(result)
