# SPDX-License-Identifier: MIT
"""peat report DIR... -o FILE."""
from __future__ import annotations

import logging
import sys

from ..packages import need
from ..runs import open_run
from ..writing import write_file
from . import page


def verb(q: dict) -> int:
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it tells where it keeps fonts
    need("jinja2", "peat report")
    need("matplotlib", "peat report")
    options = {k: q[k] for k in ("metric", "length", "baseline", "test", "lines", "panels", "family", "title") if k in q}
    data = page(open_run(*q["operands"]), **options).encode()
    if "output" in q:
        write_file(q["output"], data)
    else:
        sys.stdout.buffer.write(data)
    return 0
