#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Train a cell in PyTorch from docs/checkpoint.md alone: initial weights and batches are made here, from the
sections that the parts are called after, the model and its updates are those of peat.torch.

  torch_train.py START END METRICS [START END METRICS ...]
  torch_train.py --write FILE START END METRICS

Of each cell the exports before and after its training, and metrics.jsonl. Asserts that the weights
drawn here are those of the start, and that training from there has the losses and the lengths of
gradients of the metrics and ends with the weights of the end. With --write, for trainings so long
that rounding has told them apart, only the first steps are compared, and the weights that were
trained here are written as the end was.
"""
import json
import math
import os
import sys

import torch

import peat.torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'golden'))
from draws import ASK, Question, below, normal, stream, substream, uniform

torch.set_default_dtype(torch.float64)
written = sys.argv[2] if sys.argv[1] == '--write' else None
files = sys.argv[3:] if written else sys.argv[1:]
cells = [files[i:i + 3] for i in range(0, len(files), 3)]
for files in cells[1:]:  # a process for each, which does not load PyTorch again
    child = os.fork()
    if child == 0:
        cells = [files]
        break
    assert os.waitpid(child, 0)[1] == 0, files
start_file, end_file, metrics_file = cells[0]
start, meta = peat.torch.read_tensors(start_file)
end, end_meta = peat.torch.read_tensors(end_file)
start, end = ({name: w.double() for name, w in x.items()} for x in (start, end))
config, resolved = json.loads(meta['peat_config']), json.loads(meta['peat_resolved'])
task, model, train = config['task'], config['model'], config['train']
position, seed = config['position'], config['seed']
assert meta['peat_step'] == '0' and end_meta['peat_step'] == str(train['steps'])
arch, head = model['arch'], model.get('head', 'tokens')
D, H, L, FF = model['d_model'], model['n_head'], model['n_layer'], model['d_ff']
C = D // H
Le = model.get('encoder_layers', L) if arch == 'seq2seq' else 0
Le = L if Le in (0, 'auto') else Le
scheme, combine = position['scheme'][0], position['combine']
name_of = scheme['plugin']
combine_name = combine['plugin'] if combine else None
D_pos = combine['d_pos'] if combine_name == 'concat_split' else D
D_tok = D - D_pos if combine_name == 'concat_split' else D


# ---- "Initial values" and the reference pages' column "starts"

def expected_start():
    out = {}

    def add(name, deviation, *shape):
        key, n = stream(seed, 'init', name), math.prod(shape)
        out[name] = torch.tensor([deviation * normal(key, i) for i in range(n)]).reshape(shape)

    def constant(name, value, *shape):
        out[name] = torch.full(shape, float(value))

    def linear(name, rows, columns, residual=1.0):
        add(name + '.weight', residual / math.sqrt(columns), rows, columns)
        constant(name + '.bias', 0, rows)

    def norm(name):
        constant(name + '.weight', 1, D)
        constant(name + '.bias', 0, D)

    def stack(at, layers, crosses):
        residual = 1 / math.sqrt((3 if crosses else 2) * layers)
        for l in range(layers):
            b = f'{at}block.{l}.'
            norm(b + 'norm1')
            linear(b + 'attention.qkv', 3 * D, D)
            linear(b + 'attention.out', D, D, residual)
            if crosses:
                norm(b + 'norm_cross')
                linear(b + 'cross.qkv', 3 * D, D)
                linear(b + 'cross.out', D, D, residual)
            norm(b + 'norm2')
            linear(b + 'mlp.up', FF, D)
            linear(b + 'mlp.down', D, FF, residual)
        norm(at + 'norm')
        p = at + 'position.0.' + name_of + '.'
        if name_of == 'learned':
            add(p + 'table', resolved['learned.init_std'], resolved['learned.max_len'], D_pos)
        if name_of == 't5_bias':
            add(p + 'table', scheme['init_std'], scheme['buckets'], H)
        if name_of == 'tupe':
            add(p + 'p', scheme['init_std'], resolved['tupe.max_len'], D)
            constant(p + 'norm_weight', 1, D)
            constant(p + 'norm_shift', 0, D)
            add(p + 'u_q', 1 / math.sqrt(D), H, C, D)
            add(p + 'u_k', 1 / math.sqrt(D), H, C, D)

    V = start['token.weight'].shape[0]
    add('token.weight', 1 / math.sqrt(D), V, D_tok)
    if combine_name == 'concat_project':
        linear('combine.concat_project', D, 2 * D)
    if head != 'tokens':
        add('class.token', 1 / math.sqrt(D), 1, D)
    if head == 'both':
        add('head.class.weight', 1 / math.sqrt(D), 2, D)
        add('segment.weight', 1 / math.sqrt(D), 2, D)
    add('head.weight', 1 / math.sqrt(D), start['head.weight'].shape[0] if head == 'class' else V, D)
    stack('', L, arch == 'seq2seq')
    if arch == 'seq2seq':
        stack('encoder.', Le, False)
    return out


drawn = expected_start()
assert sorted(drawn) == sorted(start), set(drawn) ^ set(start)
for name in start:
    assert torch.allclose(drawn[name], start[name], rtol=1e-6, atol=1e-12), name


# ---- "Data"

def masked(s, first, batch, row, i, token, symbols, from_id=0):
    u = uniform(s, first) / 0.15
    if u >= 1:
        return
    batch['target'][row][i] = token
    if u < 0.8:
        batch['token'][row][i] = from_id + symbols
    elif u < 0.9:
        batch['token'][row][i] = from_id + below(s, first + 1, symbols)


def text_batch(t, B):
    s = substream(stream(seed, 'batch', 'text'), t)
    data = b''.join(open(p, 'rb').read() for p in task['path'])
    T, n = train['seq_len'], len(data) - int(task['valid'] * len(data))
    batch = {'token': [], 'target': [], 'sequence': []}
    for b in range(B):
        f = b << 32
        at = below(s, f, n - T + (1 if arch == 'encoder' else 0))
        batch['token'].append(list(data[at:at + T]))
        batch['sequence'].append(at)
        if arch == 'decoder':
            batch['target'].append(list(data[at + 1:at + T + 1]))
            continue
        batch['target'].append([-1] * T)
        for i in range(T):
            masked(s, f + 1 + 2 * i, batch, b, i, data[at + i], 256)
    if all(x == -1 for row in batch['target'] for x in row):
        batch['target'][0][-1], batch['token'][0][-1] = batch['token'][0][-1], 256
    return batch


def text_pair_batch(t, B):
    s = substream(stream(seed, 'batch', 'text_pair'), t)
    data = open(task['path'], 'rb').read()
    k, n = (train['seq_len'] - 3) // 2, len(data) - int(task['valid'] * len(data))
    batch = {'token': [], 'target': [], 'segment': [], 'label': [], 'sequence': []}
    for b in range(B):
        f = b << 32
        at, swapped = below(s, f, n - 2 * k + 1), below(s, f + 1, 2)
        batch['token'].append([0] + [0] * k + [1] + [0] * k + [2])
        batch['target'].append([-1] * (2 * k + 3))
        batch['segment'].append([0] * (k + 2) + [1] * (k + 1))
        batch['label'].append(swapped)
        batch['sequence'].append(at)
        for i in range(2 * k):
            place = 1 + i % k + (0 if (i < k) != bool(swapped) else k + 1)
            batch['token'][b][place] = 3 + data[at + i]
            masked(s, f + 2 + 2 * i, batch, b, place, 3 + data[at + i], 256, 3)
        if all(x == -1 for x in batch['target'][b]):
            batch['target'][b][1], batch['token'][b][1] = batch['token'][b][1], 259
    return batch


def question_batch(t, B):
    s = substream(stream(seed, 'batch', task['plugin']), t)
    longest = resolved[task['plugin'] + '.max_len']
    ask = ASK[task['plugin']]
    batch = {k: [] for k in ('token', 'target', 'pad', 'source', 'source_pad', 'label', 'sequence')}
    for b in range(B):
        f = b << 32
        n = task['min_len'] + below(s, f, longest - task['min_len'] + 1)
        asked, answer = ask(Question(task, s, f + 1, n, longest))
        fill = [2] * (longest - n)
        batch['sequence'].append(b)
        if arch == 'seq2seq':
            batch['source'].append(asked + [1] + fill)
            batch['source_pad'].append([False] * (n + 1) + [True] * len(fill))
            batch['token'].append([0] + answer + fill)
            batch['target'].append(answer + [2] + [-1] * len(fill))
        else:
            batch['token'].append([0] + asked + [1] + fill)
            batch['label'].append(answer[0] - 3)
        batch['pad'].append([False] * (len(batch['token'][-1]) - len(fill)) + [True] * len(fill))
    return batch


# ---- "Training"

make = {'text': text_batch, 'text_pair': text_pair_batch}.get(task['plugin'], question_batch)
training = peat.torch.Training(start, meta, dtype=torch.float64)
seen = {}  # step: loss, norm of the gradient
for t in range(1, train['steps'] + 1):
    seen[t] = [float(x) for x in training.step({name: torch.tensor(x) for name, x in make(t, train['batch']).items() if x})]
W = dict(training.model.named_parameters())

worst, checked = 0.0, 0
for line in open(metrics_file):
    row = json.loads(line)
    if row['split'] == 'train' and (not written or row['step'] <= 10):
        for ours, theirs in zip(seen[row['step']], (row['value'], row['grad_norm'])):
            worst, checked = max(worst, abs(ours - theirs) / abs(theirs)), checked + 1


def told_apart(name, w):
    """Without the bias of keys: the softmax does not see it, so its gradient is rounding, which Adam makes large."""
    return torch.cat([w[:D], w[2 * D:]]) if name.endswith('.qkv.bias') else w


def distance(name, a, b):
    return (told_apart(name, a) - told_apart(name, b)).detach().norm().item()


if written:
    peat.torch.write_tensors(written, W, {k: v for k, v in end_meta.items() if k != 'format'})
    print(json.dumps({'losses and gradients of the first steps': worst, 'steps compared': checked}))
    assert checked and worst <= 1e-4
    sys.exit()
apart = max(distance(n, W[n], end[n]) / (distance(n, end[n], start[n]) + 1e-12) for n in W)
print(json.dumps({'arch': arch, 'head': head, 'scheme': name_of, 'losses and gradients': worst,
                  'weights': apart}))
assert checked >= 4 and worst <= 1e-5 and apart <= 1e-4
