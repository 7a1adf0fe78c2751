#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where the processor time of training steps goes, by function, oneDNN's generated kernels by name.

  tests/bench/profile.py build/release/bin/peat --d 128 --T 128 --precision bf16

Everything after the program goes to `peat bench step`. Needs perf, and may write /tmp/perf-PID.map, which is
removed. Set-up and the products that bench ends with are counted too: --steps 40 makes them small.
"""
import argparse
import collections
import os
import re
import subprocess
import tempfile


def samples(program, options, folder):
    """{function: percent}, and what bench printed."""
    data = os.path.join(folder, "perf.data")
    environment = dict(os.environ, DNNL_JIT_PROFILE="2")  # oneDNN writes names of kernels for perf
    bench = [program, "bench", "step", "--json", *options]
    record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "1500", "-o", data, "--", *bench]
    printed = subprocess.run(record, env=environment, check=True, capture_output=True, text=True).stdout
    report = ["perf", "report", "-i", data, "--no-children", "--sort", "dso,symbol", "-F", "overhead,dso,symbol"]
    lines = subprocess.run(report, check=True, capture_output=True, text=True).stdout.splitlines()
    share = collections.Counter()
    for line in lines:
        found = re.match(r"\s*([\d.]+)%\s+(\[JIT\] tid (\d+)|\S+)\s+\[.\]\s+(\S+)", line)
        if not found:
            continue
        percent, place, process, name = found.groups()
        if process and os.path.exists(f"/tmp/perf-{process}.map"):
            os.unlink(f"/tmp/perf-{process}.map")
        kernel = "the system" if "kernel" in place else name
        share[f"in {place}" if name.startswith("0x") and not process else kernel] += float(percent)
    return share, printed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--most", type=int, default=30, help="functions shown")
    arguments, options = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        share, printed = samples(arguments.program, options, folder)
    for key in ("step_cpu_ms_median", "gflops", "peak_rss_mib"):
        print(re.search(rf'"{key}": [\d.]+', printed).group())
    for name, percent in share.most_common(arguments.most):
        print(f"{percent:6.2f} {name}")


if __name__ == "__main__":
    main()
