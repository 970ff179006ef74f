"""A plug-in of pytest that computes the attention of Transformers' own tests with Gyre.

    python -m pytest -p gyre_takes --gyre attention tests/models/llama/test_modeling_llama.py      in Transformers' sources

--gyre attention    layers that ask for sdpa call gyre.transformers, also those of models that have no sdpa, such as gpt-oss
--gyre rotations    that, and models' rotations
--gyre sdpa         torch.nn.functional.scaled_dot_product_attention is taken over instead

The run fails if no call was taken: tests that pass then say nothing.
"""

import importlib
import pathlib

import gyre.torch
import gyre.transformers
import pytest
from transformers import PreTrainedModel

NOTHING_TAKEN = 9  # an exit status that pytest itself does not have


def pytest_addoption(parser):
    parser.addoption("--gyre", choices=("attention", "rotations", "sdpa"), required=True, help="what is computed with Gyre")


def taken(way):
    """How many calls were computed with Gyre so far."""
    if way == "sdpa":
        return sum(gyre.torch.sdpa_calls().get(name, 0) for name in ("forward", "backward"))
    if way == "rotations":
        return min(gyre.transformers.calls(), gyre.transformers.rotary_calls())
    return gyre.transformers.calls()


def take_rotations_of_new_models():
    post_init = PreTrainedModel.post_init

    def taking(self):
        post_init(self)
        try:
            gyre.transformers.enable_rotary(self)
        except ValueError:  # a model without rotations that are known
            pass

    PreTrainedModel.post_init = taking


def pytest_configure(config):
    way = config.getoption("--gyre")
    if way == "sdpa":
        gyre.torch.enable_sdpa()
        return
    gyre.transformers.enable("sdpa")
    if way == "rotations":
        take_rotations_of_new_models()


def allow_sdpa(model):
    """Lets the classes of tests/models/MODEL choose sdpa, which is Gyre now."""
    module = importlib.import_module(f"transformers.models.{model}.modeling_{model}")
    for found in vars(module).values():
        if isinstance(found, type) and issubclass(found, PreTrainedModel) and found.__module__ == module.__name__:
            found._supports_sdpa = True


def pytest_collection_modifyitems(config, items):
    if config.getoption("--gyre") == "sdpa":
        return
    for model in {pathlib.Path(item.path).parent.name for item in items}:
        allow_sdpa(model)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    if exitstatus == 0 and not taken(session.config.getoption("--gyre")):
        session.exitstatus = NOTHING_TAKEN


def pytest_terminal_summary(terminalreporter, config):
    terminalreporter.write_line(f"gyre: {taken(config.getoption('--gyre'))} calls")
