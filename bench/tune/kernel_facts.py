"""What is known of a kernel by its name, where no recipe of it is at hand."""

import os
import re

from errors import UsageError, refuse
from programs import generators_folder
from recipes import Recipes
from space import declaration_path, read_declaration


def declaration_of(build, name):
    """The search space of the kernel's operation, with what it says for kernels of a part of the keys."""
    operation = name.split("_")[0]
    path = declaration_path(generators_folder(build), operation)
    if not os.path.exists(path):
        refuse(f"--kernel {name}", f"no search space of {operation} says what to time", "a kernel of attention or rotary")
    declaration = read_declaration(path)
    is_partial = parameters_of(build, name).get("partial") == "true" or "_split_" in name
    return {**declaration, **declaration["partial"]} if is_partial and "partial" in declaration else declaration


def parameters_of(build, name):
    """The kernel's parameters, by its recipe; without one, what its name says of the head size: d64, or dmax128."""
    try:
        for kernel in Recipes(build).kernels:
            if kernel.name == name:
                return kernel.parameters
    except UsageError:
        pass
    size = re.search(r"_d(max)?(\d+)(_|$)", name)
    return {"head_dim": size[2], "padded": "true" if size[1] else "false"} if size else {}
