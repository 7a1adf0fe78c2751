#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The reported losses of an exported model of bytes, by peat.torch and docs/checkpoint.md, "The loss that is
reported".

  torch_rebuild.py model.safetensors          -> {"64": 2.31..., "128": 2.29...}
"""
import json
import math
import sys

import torch
import torch.nn.functional as F

import peat.torch

model = peat.torch.load(sys.argv[1])
task, evaluated = model.config['task'], model.config['eval']
text = b''.join(open(p, 'rb').read() for p in task['path'])
held_out = int(task['valid'] * len(text))
test = int(evaluated.get('test', 0) * held_out)
data = torch.tensor(list(text[len(text) - (test or held_out):]))
lengths = [int(n) for n in evaluated['lengths']]
block, room, wanted = math.lcm(*lengths), len(data) - 1, evaluated['tokens']
N = max(block, (room if wanted in (0, 'all') else min(wanted, room)) // block * block)
out = {}
with torch.no_grad():
    for T in lengths:
        x, y = data[:N].view(-1, T), data[1:N + 1].view(-1, T)
        nll = sum(F.cross_entropy(model(a).double().flatten(0, 1), b.flatten(), reduction='sum').item()
                  for a, b in zip(x.split(32), y.split(32)))
        out[T] = nll / N
print(json.dumps(out))
