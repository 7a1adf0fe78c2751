# SPDX-License-Identifier: MIT
"""compare.py PEAT PLUGIN FILE: whether a plugin has the parameters and tensors that FILE declares, a plugin that is Python
alone.

`peat plugins info` describes both. The first difference is one line, and status 1. A formula that declares nothing agrees.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # the package imports PyTorch

from declared import File, Mistake  # noqa: E402

FACTS = (("parameters", "parameter", "key", ("type", "default", "min", "max", "labels", "doc")),
         ("tensors", "tensor", "name", ("shape", "starts", "each")))


def described(program, plugin):
    done = subprocess.run([program, "plugins", "info", plugin, "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Mistake(done.stderr.partition("\n")[0].removeprefix("peat: "))
    return json.loads(done.stdout)


def shown(x):
    return x if isinstance(x, str) else json.dumps(x)


def differences(ours, theirs, file):
    for kind, word, key, facts in FACTS:
        own, other = ({one[key]: one for one in x[kind] or ()} for x in (ours, theirs))
        for name in [*other, *own]:
            if name not in own:
                yield f"the plugin has no {word} '{name}', which {file} has"
            elif name not in other:
                yield f"the plugin has the {word} '{name}', which {file} has not"
            else:
                for fact in facts:
                    x, y = own[name][fact], other[name][fact]
                    if x != y:
                        yield f"{word} '{name}': {fact} is {shown(x)}, and {file} has {shown(y)}"


def main():
    program, plugin, path = sys.argv[1:4]
    try:
        if not File(path).plugin()["declares"]:
            return
    except (Mistake, OSError):  # a formula may be less than a plugin
        return
    try:
        both = described(program, plugin), described(program, os.path.abspath(path))
        first = next(differences(*both, os.path.basename(path)), None)
    except Mistake as e:
        first = str(e)
    if first:
        print(first, end="")
        sys.exit(1)


if __name__ == "__main__":
    main()
