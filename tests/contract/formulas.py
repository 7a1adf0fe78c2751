# SPDX-License-Identifier: MIT
"""formulas.py PROGRAM [--models] FOLDER...: the plugin of each folder against the formula.py in it, in one process.

`peat plugins check --reference` starts a python3 for each plugin. The one that PEAT_PYTHON names here keeps the calls
that it is to compare, with --models the models too, and PROGRAM, core/check/reference.py, compares them in a child that
has PyTorch already.
"""
import os
import pathlib
import runpy
import shutil
import subprocess
import sys

import torch  # noqa: F401 for the children

WITHOUT = {"none"}  # has no formula


def record(folder, kept):
    """Runs the check of a plugin up to the comparison; returns whether it called for one."""
    shutil.rmtree(kept, ignore_errors=True)
    made = subprocess.run(["peat", "plugins", "check", f"{folder.parent.name}/{folder.name}", "--only", "reference",
                           "--reference", folder / "formula.py"])
    return made.returncode == 0 and (kept / "reference.json").exists()


def compare(program, folder, kept, models):
    child = os.fork()
    if child == 0:
        plugin, package = (kept / "words").read_text().splitlines()
        sys.argv = [program, str(folder / "formula.py"), str(kept / "reference.json"), plugin, package if models else ""]
        runpy.run_path(program)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def main(program, *folders):
    keeper, kept = pathlib.Path("keeper").absolute(), pathlib.Path("kept").absolute()
    models = folders[0] == "--models"
    keeper.write_text(f"""#!/bin/sh
[ "$2" = -c ] || exit 0
cp -r "$(dirname "$5")" "{kept}" && printf '%s\\n' "$6" "$7" >"{kept}/words" && echo "no calls of hooks compared"
""")
    keeper.chmod(0o755)
    os.environ["PEAT_PYTHON"] = str(keeper)
    named = [pathlib.Path(f).absolute() for f in folders[models:] if pathlib.Path(f).name not in WITHOUT]
    bad = [f.name for f in named if not (record(f, kept) and compare(program, f, kept, models))]
    print(f"{len(named) - len(bad)} of {len(named)} agree" + "".join(f"; not {name}" for name in bad))
    return 1 if bad or not named else 0


sys.exit(main(*sys.argv[1:]))
