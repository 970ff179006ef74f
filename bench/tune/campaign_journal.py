"""The journal of a campaign: what is to be done and what has been done, in one file that is whole at every moment."""

import json
import os

from errors import RunError
from whole_file import write_whole


class Journal:
    """reached: {target: {"stamp", "kernels"}}, as campaign_calls.reached() tells; outcomes: {kernel: outcome}.

    An outcome is what campaign_verdict.settle() returns, or {"failed": text}.
    """

    def __init__(self, folder, restart=False):
        self.path = os.path.join(folder, "journal.json")
        content = {} if restart else self.read()
        self.reached, self.outcomes = content.get("reached", {}), content.get("outcomes", {})

    def read(self):
        if not os.path.exists(self.path):
            return {}
        try:
            with open(self.path, encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError) as error:
            raise RunError(f"{self.path}: cannot be read: {error}") from None

    def write(self):
        write_whole(self.path, json.dumps({"reached": self.reached, "outcomes": self.outcomes}, indent=1))

    def kernels(self, target, stamp, ask):
        """The kernels of a target, heaviest first. They are asked for again once the stamp is another: of calls and the program."""
        known = self.reached.get(target)
        if known is None or known["stamp"] != stamp:
            known = self.reached[target] = {"stamp": stamp, "kernels": ask()}
            self.write()
        return known["kernels"]

    def record(self, kernel, outcome):
        self.outcomes[kernel] = outcome
        self.write()

    def is_done(self, kernel):
        """Whether nothing is left to do for a kernel. One that failed is tried again by the next start."""
        outcome = self.outcomes.get(kernel, {"failed": "not begun"})
        return "failed" not in outcome and outcome["stored"]
