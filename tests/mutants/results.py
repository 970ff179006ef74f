"""What came of each mutant, in a file that the next run goes on from."""

import hashlib
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIELDS = {"name", "file", "from", "to", "tests"}


def fingerprint(mutant):
    """Returns a checksum of what the result is for: the mutant and the file that it changes."""
    text = json.dumps({key: mutant[key] for key in sorted(FIELDS)}) + (ROOT / mutant["file"]).read_text(encoding="utf-8")
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Results:
    """Lines of JSON, the last of a mutant counts."""

    def __init__(self, path):
        self.path = path
        self.last = {}
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                self._take(json.loads(line))

    def _take(self, result):
        self.last[result["name"]] = result

    def known(self, mutant):
        """Survivors are run again, unless they are explained: a test may have become sharper."""
        result = self.last.get(mutant["name"])
        settled = ("killed", "does not build", "survived" if "equivalent" in mutant else "killed")
        return result and result["fingerprint"] == fingerprint(mutant) and result["status"] in settled

    def add(self, mutant, status, **more):
        result = {"name": mutant["name"], "area": mutant["area"], "status": status, "fingerprint": fingerprint(mutant), **more}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
        self._take(result)
        print(f"{mutant['name']:44} {status:15} {more.get('by') or more.get('why') or ''}", flush=True)
