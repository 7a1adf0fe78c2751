#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""startup.py PEAT DIR: processor time (user and system) of commands that multiply nothing.

Each is run 20 times on the run directory DIR; median and least, in milliseconds. A run directory of one cell shows
what starting costs, a larger one what reading and checking a cell costs.
"""
import resource
import statistics
import subprocess
import sys

COMMANDS = [['help'], ['--version'], ['status', 'DIR'], ['results', 'DIR'], ['logs', 'DIR', '0'],
            ['validate', 'DIR'], ['plugins', 'info', 'rotary'],
            ['plugins', 'list']]


def spent():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


def measure(command):
    times = []
    for _ in range(20):
        before = spent()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f'{" ".join(command)}: exit status {done.returncode}: {done.stderr.strip()}')
        times.append(1e3 * (spent() - before))
    return times


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for words in COMMANDS:
        times = measure([sys.argv[1]] + [sys.argv[2] if w == 'DIR' else w for w in words])
        print(f'{" ".join(words):22} median {statistics.median(times):5.1f} ms, least {min(times):5.1f} ms')


main()
