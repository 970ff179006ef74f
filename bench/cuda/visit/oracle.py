"""Stage: the oracle suite of the tests on the device, one file of tests at a time, each with its counts."""

import os
import re
import subprocess

FILES = ("rotary/rotary", "rotary/angles", "rotary/memory", "cuda/cache_append_cuda", "cuda/attention_cuda", "cuda/attention_cuda_bias",
         "cuda/attention_cuda_decode", "cuda/attention_cuda_lists", "cuda/attention_cuda_scores")
SECONDS = 150  # of one file: a test that hangs is one file's loss


def run(_, options, say):
    for name in FILES[:options.files]:
        command = [options.tests, f"--source-file=*{name}_test.cpp", "--no-colors"]
        environment = {**os.environ, "GYRE_TEST_ONLY_DEVICES": "1"}
        try:
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=SECONDS, errors="replace", check=False)
        except subprocess.TimeoutExpired:
            say({"tests": name, "ok": False, "error": f"no end after {SECONDS} s"})
            continue
        counts = re.search(r"test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed", done.stdout)
        cases, passed, failed = map(int, counts.groups()) if counts else (0, 0, 0)
        result = {"tests": name, "cases": cases, "passed": passed, "failed": failed, "status": done.returncode,
                  "ok": done.returncode == 0 and cases > 0}
        say(result if result["ok"] else {**result, "error": done.stdout[-3000:]})
