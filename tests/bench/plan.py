#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plan.py PEAT: what `plan --measure` says that four small grids take, beside what they took.

Each grid is planned and then run once, one cell after another on one thread. Seconds are those of the processor: a
busy machine makes the run's clock slower, and neither the plan's numbers nor these. The last column is the plan's time
over the run's, less 1.
"""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

FILE = '''version: 2
name: {name}
defaults:
  task: {{plugin: {task}}}
  model: {{d_model: {d}, n_layer: {layers}, n_head: 4}}
  train: {{steps: {steps}, batch: {batch}, seq_len: {T}}}
  eval: {{every: {every}, tokens: {tokens}, lengths: {lengths}}}
matrix:
  position.scheme: [{schemes}]
'''
GRIDS = [
    dict(name='tiny', task='copy', d=32, layers=2, steps=3000, batch=8, T=32, every=50, tokens=1024, lengths='[12]',
         schemes='none, rotary'),
    dict(name='text', task='text, path: text', d=64, layers=2, steps=900, batch=8, T=64, every=50, tokens=4096,
         lengths='[64, 128]', schemes='rotary, learned'),
    dict(name='wide', task='text, path: text', d=128, layers=4, steps=300, batch=4, T=128, every=0, tokens=4096,
         lengths='[128]', schemes='rotary, alibi'),
    dict(name='pairs', task='text, path: text', d=64, layers=2, steps=600, batch=8, T=64, every=0, tokens=4096,
         lengths='[64]', schemes='shaw, cope'),
]
ONE = ['run.jobs=1', 'run.threads=1']


def said(text):
    """Seconds of `about 1m05s here`; a plan of less than a second counts as half of one."""
    if 'less than 1 s here' in text:
        return 0.5
    found = re.search(r'about (?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+) ?s)? here', text)
    hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return 3600 * hours + 60 * minutes + seconds


def spent(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f'{" ".join(command)}: {done.stderr.strip()}')
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def main():
    peat = os.path.abspath(shutil.which(sys.argv[1]) or sys.argv[1])  # the folder changes
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open('text', 'w') as file:
            file.writelines(f'{i} and {i * i} are numbers, said for the {i}th time.\n' for i in range(4000))
        print(f'{"grid":8} {"run s":>8} {"measured s":>10} {"measured":>9}')
        for grid in GRIDS:
            with open('x.yaml', 'w') as file:
                file.write(FILE.format(**grid))
            measured = said(spent([peat, 'plan', 'x.yaml', '--measure', *ONE])[1])
            took, _ = spent([peat, 'run', 'x.yaml', '-q', '-o', 'run-' + grid['name'], *ONE])
            print(f'{grid["name"]:8} {took:8.1f} {measured:10.1f} {100 * (measured / took - 1):+8.0f}%', flush=True)


main()
