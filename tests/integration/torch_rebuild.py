#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Rebuild an exported model in PyTorch from docs/checkpoint.md alone; print its losses.

  torch_rebuild.py model.safetensors          -> {"64": 2.31..., "128": 2.29...}
"""
import json
import math
import struct
import sys

import torch
import torch.nn.functional as F


def read_safetensors(path):
    with open(path, 'rb') as f:
        raw = f.read()
    n = struct.unpack('<Q', raw[:8])[0]
    header = json.loads(raw[8:8 + n])
    meta = header.pop('__metadata__')
    tensors = {}
    for name, entry in header.items():
        begin, end = entry['data_offsets']
        assert entry['dtype'] == 'F32'
        data = torch.frombuffer(bytearray(raw[8 + n + begin:8 + n + end]), dtype=torch.float32)
        tensors[name] = data.reshape(entry['shape'])
    return tensors, json.loads(meta['peat_config']), json.loads(meta['peat_resolved'])


W, config, resolved = read_safetensors(sys.argv[1])
model, position = config['model'], config['position']
D, H, L = model['d_model'], model['n_head'], model['n_layer']
schemes = position['scheme']


def norm(x, name):
    w = W[name + '.weight']
    if model['norm'] == 'rms':
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w
    return F.layer_norm(x, (x.shape[-1],), w, W[name + '.bias'], 1e-5)


def linear(x, name):
    return F.linear(x, W[name + '.weight'], W[name + '.bias'])


def sinusoid(p, T, d):
    n = d // 2
    i = torch.arange(n, dtype=torch.float64)
    span = d / 2 if p['frequencies'] == 'paper' else max(n - 1, 1)
    a = torch.arange(T, dtype=torch.float64)[:, None] * p['base'] ** (-i / span)
    P = torch.zeros(T, d, dtype=torch.float64)
    if p['layout'] == 'halves':
        P[:, :n], P[:, n:2 * n] = a.sin(), a.cos()
    else:
        P[:, 0:2 * n:2], P[:, 1:2 * n:2] = a.sin(), a.cos()
    return (P * p['scale']).float()


def rotate(x, p):
    T, C = x.shape[-2:]
    C_r = 2 * int(p['fraction'] * C / 2)
    i = torch.arange(C_r // 2, dtype=torch.float64)
    a = torch.arange(T, dtype=torch.float64)[:, None] * p['base'] ** (-2 * i / C_r)
    cos, sin = a.cos().float(), a.sin().float()
    y = x.clone()
    if p['layout'] == 'halves':
        u, v = slice(0, C_r // 2), slice(C_r // 2, C_r)
    else:
        u, v = slice(0, C_r, 2), slice(1, C_r, 2)
    y[..., u] = x[..., u] * cos - x[..., v] * sin
    y[..., v] = x[..., u] * sin + x[..., v] * cos
    return y


def alibi_slopes(n):
    def power_of_two(n):
        return [2.0 ** (-8.0 * (h + 1) / n) for h in range(n)]
    if n & (n - 1) == 0:
        return power_of_two(n)
    m = 1 << (n.bit_length() - 1)
    return power_of_two(m) + alibi_slopes(2 * m)[0::2][:n - m]


def merge(x):
    T, streams = x.shape[1], []
    for i, p in enumerate(schemes):
        if p['plugin'] == 'sinusoidal':
            width = {'concat_split': D - x.shape[-1], 'concat_overlap': position['combine'].get('d_pos')}
            streams.append(sinusoid(p, T, width.get(position['combine']['plugin'], D)))
        elif p['plugin'] == 'learned':
            streams.append(resolved['learned.scale'] * W[f'position.{i}.learned.table'][:T])
    if not streams:
        return x
    c, P = position['combine'], streams[0].expand(x.shape[0], -1, -1)
    if c['plugin'] == 'sum':
        return c['token_scale'] * x + c['position_scale'] * P
    if c['plugin'] == 'concat_split':
        return torch.cat([x, P], -1)
    if c['plugin'] == 'concat_overlap':
        return F.pad(x, (0, D - x.shape[-1])) + F.pad(P, (D - P.shape[-1], 0))
    if c['plugin'] == 'sum_project':
        return linear(x + c['position_scale'] * P, 'combine.sum_project')
    if c['plugin'] == 'concat_project':
        return linear(torch.cat([x, P], -1), 'combine.concat_project')
    if c['plugin'] == 'gate_scalar':
        g = torch.sigmoid(x @ W['combine.gate_scalar.w_token'] +
                          P @ W['combine.gate_scalar.w_position'] + W['combine.gate_scalar.bias'])
        return g * x + (1 - g) * P
    raise SystemExit('not rebuilt here: ' + c['plugin'])


def forward(ids):
    B, T = ids.shape
    scale = model['embed_scale']
    x = merge(W['token.weight'][ids] * (math.sqrt(D) if scale == 'auto' else scale))
    width = x.shape[-1]
    C = width // H
    i = torch.arange(T)
    mask = torch.zeros(T, T).masked_fill(i[None, :] > i[:, None], float('-inf'))
    for p in schemes:
        if p['plugin'] == 'alibi':
            m = torch.tensor(alibi_slopes(H))[:, None, None]
            mask = mask - m * (i[None, :] - i[:, None]).abs()
    for l in range(L):
        b = f'block.{l}.'
        q, k, v = (t.reshape(B, T, H, C).transpose(1, 2)
                   for t in linear(norm(x, b + 'norm1'), b + 'attention.qkv').split(width, -1))
        for p in schemes:
            if p['plugin'] == 'rotary':
                q, k = rotate(q, p), rotate(k, p)
        o = (q @ k.transpose(-2, -1) / math.sqrt(C) + mask).softmax(-1) @ v
        x = x + linear(o.transpose(1, 2).reshape(B, T, width), b + 'attention.out')
        h = linear(norm(x, b + 'norm2'), b + 'mlp.up')
        h = {'gelu': F.gelu, 'relu': F.relu,
             'gelu_tanh': lambda t: F.gelu(t, approximate='tanh')}[model['activation']](h)
        x = x + linear(h, b + 'mlp.down')
    head = W['token.weight'] if model['tie_embeddings'] else W['head.weight']
    return norm(x, 'norm') @ head.T


def losses():
    text = b''.join(open(p, 'rb').read() for p in config['task']['path'])
    start = len(text) - int(config['task']['valid'] * len(text))
    data = torch.tensor(list(text[start:]))
    lengths = [int(n) for n in config['eval']['lengths']]
    block = math.lcm(*lengths)
    room, wanted = len(data) - 1, config['eval']['tokens']
    N = max(block, (room if wanted in (0, 'all') else min(wanted, room)) // block * block)
    out = {}
    for T in lengths:
        x, y = data[:N].view(-1, T), data[1:N + 1].view(-1, T)
        with torch.no_grad():
            nll = sum(F.cross_entropy(forward(a).reshape(-1, W['token.weight'].shape[0]).double(),
                                      b.reshape(-1), reduction='sum').item()
                      for a, b in zip(x.split(32), y.split(32)))
        out[T] = nll / N
    return out


print(json.dumps(losses()))
