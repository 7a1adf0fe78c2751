# SPDX-License-Identifier: MIT
"""Verbs of the program that are Python: it starts this module with the verb's module and what the call asks for."""
import json
import os
import sys

from .packages import need
from .reading import Refused

FAILED, USAGE = 1, 2


def main(module: str, request: str) -> int:
    """Runs peat.<module>.verb(request) and returns its exit code. request: {"operands", "width", "command" where the module
    is not the verb's, and each option that was given by its long name}."""
    given = json.loads(request)
    try:
        code = need(f"peat.{module}", given.get("command", 'peat ' + module.split('.')[0])).verb(given)
        sys.stdout.flush()
        return code
    except Refused as e:
        print(f"peat: {e}", file=sys.stderr)
        return USAGE
    except OSError as e:
        print(f"peat: {e.filename or 'standard output'}: {e.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
