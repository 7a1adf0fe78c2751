# SPDX-License-Identifier: MIT
"""Packages that a part of peat needs and its user may lack."""
import importlib
import sys

from .reading import Refused

DEBIAN = {"matplotlib": "python3-matplotlib", "jinja2": "python3-jinja2", "pandas": "python3-pandas",
          "numpy": "python3-numpy", "scipy": "python3-scipy", "sklearn": "python3-sklearn", "torch": "python3-torch"}


def need(module: str, what: str):
    """The module; Refused with the interpreter's path where its package is missing. what: "a figure"."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as e:
        package = (e.name or "").partition(".")[0]
        if package not in DEBIAN:
            raise
        raise Refused(f"{what} needs {package}, which '{sys.executable}' does not have (Debian: {DEBIAN[package]}; "
                      "PEAT_PYTHON names another interpreter)") from None
