#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Train a cell in PyTorch from docs/checkpoint.md alone: initial weights, batches, dropout, updates.

  torch_train.py START END METRICS [START END METRICS ...]
  torch_train.py --write FILE START END METRICS

Of each cell the exports before and after its training, and metrics.jsonl. Asserts that the weights
drawn here are those of the start, and that training from there has the losses and the lengths of
gradients of the metrics and ends with the weights of the end. With --write, for trainings so long
that rounding has told them apart, only the first steps are compared, and the weights that were
trained here are written as the end was. The heading of each part is the
section of the document that it is written from.
"""
import json
import math
import os
import struct
import sys

import torch
import torch.nn.functional as F

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


# ---- "The file"

def read_safetensors(path):
    with open(path, 'rb') as f:
        raw = f.read()
    n = struct.unpack('<Q', raw[:8])[0]
    header = json.loads(raw[8:8 + n])
    meta = header.pop('__metadata__')
    tensors = {}
    for name, entry in header.items():
        begin, end = entry['data_offsets']
        data = torch.frombuffer(bytearray(raw[8 + n + begin:8 + n + end]), dtype=torch.float32)
        tensors[name] = data.double().reshape(entry['shape'])
    return tensors, meta


def write_safetensors(path, tensors, meta):
    header, at = {'__metadata__': meta}, 0
    for name in sorted(tensors):
        size = 4 * tensors[name].numel()
        header[name] = {'dtype': 'F32', 'shape': list(tensors[name].shape),
                        'data_offsets': [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    with open(path, 'wb') as f:
        f.write(struct.pack('<Q', len(text)) + text)
        for name in sorted(tensors):
            f.write(tensors[name].detach().float().contiguous().numpy().tobytes())


start, meta = read_safetensors(start_file)
end, end_meta = read_safetensors(end_file)
config, resolved = json.loads(meta['peat_config']), json.loads(meta['peat_resolved'])
task, model, train = config['task'], config['model'], config['train']
position, seed = config['position'], config['seed']
assert meta['peat_step'] == '0' and end_meta['peat_step'] == str(train['steps'])
arch, head = model['arch'], model.get('head', 'tokens')
D, H, L, FF = model['d_model'], model['n_head'], model['n_layer'], model['d_ff']
C, s_embed, p_drop = D // H, model['embed_scale'], model['dropout']
Le = model.get('encoder_layers', L) if arch == 'seq2seq' else 0
Le = L if Le in (0, 'auto') else Le
scheme, combine = position['scheme'][0], position['combine']
name_of = scheme['plugin']
across = scheme.get('where', {}).get('across', False)
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
W = {name: w.clone().requires_grad_() for name, w in start.items()}


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
    batch = {'token': [], 'target': []}
    for b in range(B):
        f = b << 32
        at = below(s, f, n - T + (1 if arch == 'encoder' else 0))
        batch['token'].append(list(data[at:at + T]))
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
    batch = {'token': [], 'target': [], 'segment': [], 'label': []}
    for b in range(B):
        f = b << 32
        at, swapped = below(s, f, n - 2 * k + 1), below(s, f + 1, 2)
        batch['token'].append([0] + [0] * k + [1] + [0] * k + [2])
        batch['target'].append([-1] * (2 * k + 3))
        batch['segment'].append([0] * (k + 2) + [1] * (k + 1))
        batch['label'].append(swapped)
        for i in range(2 * k):
            place = 1 + i % k + (0 if (i < k) != bool(swapped) else k + 1)
            batch['token'][b][place] = 3 + data[at + i]
            masked(s, f + 2 + 2 * i, batch, b, place, 3 + data[at + i], 256, 3)
    if all(x == -1 for row in batch['target'] for x in row):
        batch['target'][0][1], batch['token'][0][1] = batch['token'][0][1], 259
    return batch


def question_batch(t, B):
    s = substream(stream(seed, 'batch', task['plugin']), t)
    longest = resolved[task['plugin'] + '.max_len']
    ask = ASK[task['plugin']]
    batch = {k: [] for k in ('token', 'target', 'pad', 'source', 'source_pad', 'label')}
    for b in range(B):
        f = b << 32
        n = task['min_len'] + below(s, f, longest - task['min_len'] + 1)
        asked, answer = ask(Question(task, s, f + 1, n, longest))
        fill = [2] * (longest - n)
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


# ---- "Forward"

class Step:
    def __init__(self, t):
        self.t = t

    def dropout(self, x, place, layer, purpose='dropout'):
        if p_drop == 0:
            return x
        s = substream(substream(stream(seed, purpose, place), layer), self.t)
        keep = [uniform(s, i) >= p_drop for i in range(x.numel())]
        return x * torch.tensor(keep).reshape(x.shape) / (1 - p_drop)

    def norm(self, x, name):
        return F.layer_norm(x, (D,), W[name + '.weight'], W[name + '.bias'], 1e-5)

    def linear(self, x, name):
        return F.linear(x, W[name + '.weight'], W[name + '.bias'])

    def attend(self, name, x, memory, hidden, acts):
        def heads(y):
            return y.reshape(y.shape[0], -1, H, C).transpose(1, 2)
        w, b = W[name + '.qkv.weight'], W[name + '.qkv.bias']
        q = heads(F.linear(x, w[:D], b[:D]))
        k = heads(F.linear(memory, w[D:2 * D], b[D:2 * D]))
        v = heads(F.linear(memory, w[2 * D:], b[2 * D:]))
        q, k, score, bias, terms = acts(q, k)
        logits = (q @ k.transpose(-2, -1) + score) / math.sqrt((1 + terms) * C) + bias
        o = logits.masked_fill(hidden[:, None], -math.inf).softmax(-1) @ v
        return self.linear(o.transpose(1, 2).reshape(x.shape[0], -1, D), name + '.out')

    def block(self, at, l, x, hidden, acts, crossing=None):
        b, drops = f'{at}block.{l}.', 'dropout.encoder' if at else 'dropout'
        y = self.norm(x, b + 'norm1')
        x = x + self.dropout(self.attend(b + 'attention', y, y, hidden, acts), 'attention', l, drops)
        if crossing:
            memory, unseen, over = crossing
            y = self.attend(b + 'cross', self.norm(x, b + 'norm_cross'), memory, unseen, over)
            x = x + self.dropout(y, 'cross', l, drops)
        y = self.linear(self.norm(x, b + 'norm2'), b + 'mlp.up')
        y = self.linear(F.gelu(y), b + 'mlp.down')
        return x + self.dropout(y, 'mlp', l, drops)

    def merge(self, at, x, segment=None):
        P = stream_of_positions(at, x.shape[1])
        if segment is not None and combine:
            P = segment if P is None else P + segment
        elif segment is not None:
            x = x + segment
        if combine_name == 'concat_split':
            x = torch.cat([x, P.expand(len(x), -1, -1)], -1)
        elif combine_name == 'concat_project':
            x = self.linear(torch.cat([x, P.expand(len(x), -1, -1)], -1), 'combine.concat_project')
        elif P is not None:
            x = combine['token_scale'] * x + combine['position_scale'] * P
        return self.dropout(x, 'input', 0, 'dropout.encoder' if at else 'dropout')

    def encode(self, at, x, pad, layers, segment=None):
        T = x.shape[1]
        x = self.merge(at, x, segment)
        hidden = pad[:, None, :].expand(-1, T, -1)
        for l in range(layers):
            x = self.block(at, l, x, hidden, own(at, T, False))
        return self.norm(x, at + 'norm')

    def loss(self, batch):
        token = torch.tensor(batch['token'])
        B, T = token.shape
        pad = torch.tensor(batch['pad']) if batch.get('pad') else torch.zeros(B, T, dtype=torch.bool)
        x = s_embed * W['token.weight'][token]
        if head != 'tokens':  # pool: cls, cls_position: first
            front = s_embed * W['class.token'].expand(B, 1, D)
            x, segment = torch.cat([front, x], 1), None
            if batch.get('segment'):
                ids = F.pad(torch.tensor(batch['segment']), (1, 0))
                segment = s_embed * W['segment.weight'][ids]
            m = self.encode('', x, F.pad(pad, (1, 0)), L, segment)
            name = 'head.weight' if head == 'class' else 'head.class.weight'
            told = F.cross_entropy(m[:, 0] @ W[name].T, torch.tensor(batch['label']))
            if head == 'class':
                return told
            logits = (m[:, 1:] @ W['head.weight'].T).reshape(B * T, -1)
            return told + F.cross_entropy(logits, torch.tensor(batch['target']).reshape(-1),
                                          ignore_index=-1)
        if arch == 'encoder':
            y = self.encode('', x, pad, L)
        else:
            y = self.decode(x, pad, batch)
        logits = (y @ W['head.weight'].T).reshape(B * T, -1)
        return F.cross_entropy(logits, torch.tensor(batch['target']).reshape(-1), ignore_index=-1)

    def decode(self, x, pad, batch):
        B, T = x.shape[:2]
        crossing, place = None, torch.arange(T)
        if arch == 'seq2seq':
            source, unseen = torch.tensor(batch['source']), torch.tensor(batch['source_pad'])
            m = self.encode('encoder.', s_embed * W['token.weight'][source], unseen, Le)
            crossing = (m, unseen[:, None, :].expand(-1, T, -1), over(T, source.shape[1]))
        x = self.merge('', x)
        hidden = pad[:, None, :] | (place[None, :] > place[:, None])
        for l in range(L):
            x = self.block('', l, x, hidden, own('', T, True), crossing)
        return self.norm(x, 'norm')


# ---- "Schemes"

def stream_of_positions(at, T):
    if name_of == 'learned':
        return resolved['learned.scale'] * W[at + 'position.0.learned.table'][:T]
    if name_of == 'sinusoidal':
        n = D_pos // 2
        w = scheme['base'] ** (-2 * torch.arange(n, dtype=torch.float64) / D_pos)
        a = torch.arange(T, dtype=torch.float64)[:, None] * w
        return scheme['scale'] * torch.stack([a.sin(), a.cos()], -1).reshape(T, D_pos)
    return None


def turn(x, T):
    if name_of != 'rotary':
        return x
    C_r = 2 * int(scheme['fraction'] * C / 2)
    w = scheme['base'] ** (-2 * torch.arange(C_r // 2, dtype=torch.float64) / C_r)
    a = torch.arange(T, dtype=torch.float64)[:, None] * w
    u, v = x[..., 0:C_r:2], x[..., 1:C_r:2]
    y = torch.stack([u * a.cos() - v * a.sin(), u * a.sin() + v * a.cos()], -1).flatten(-2)
    return torch.cat([y, x[..., C_r:]], -1)


def bucket(delta, causal):
    def side(d, n):
        e = n // 2
        far = int((n - e) * math.log(d / e) / math.log(scheme['max_distance'] / e) + 1e-12) if d else 0
        return d if d < e else min(e + far, n - 1)
    n = scheme['buckets']
    if causal:
        return side(max(-delta, 0), n)
    return side(abs(delta), n // 2) + (n // 2 if delta > 0 else 0)


def bias(at, Tq, Tk, causal):
    delta = torch.arange(Tk)[None, :] - torch.arange(Tq)[:, None]
    if name_of == 'alibi':
        m = torch.tensor([2.0 ** (-8 * (h + 1) / H) for h in range(H)])
        return -m[:, None, None] * delta.abs()
    if name_of == 't5_bias':
        row = torch.tensor([[bucket(d, causal) for d in line] for line in delta.tolist()])
        return W[at + 'position.0.t5_bias.table'][row].permute(2, 0, 1)
    return torch.zeros(H, Tq, Tk)


def own(at, T, causal):
    def acts(q, k):
        score, terms = torch.zeros(H, T, T), 0
        if name_of == 'tupe':
            n, terms = at + 'position.0.tupe.', 1
            p = F.layer_norm(W[n + 'p'], (D,), W[n + 'norm_weight'], W[n + 'norm_shift'], 1e-5)[:T]
            score = torch.einsum('id,hcd,je,hce->hij', p, W[n + 'u_q'], p, W[n + 'u_k'])
        return turn(q, T), turn(k, T), score, bias(at, T, T, causal), terms
    return acts


def over(Tq, Tk):
    def acts(q, k):
        if not across:
            return q, k, torch.zeros(H, Tq, Tk), torch.zeros(H, Tq, Tk), 0
        return turn(q, Tq), turn(k, Tk), torch.zeros(H, Tq, Tk), bias('', Tq, Tk, True), 0
    return acts


# ---- "Training"

def rate(t):
    if t <= train['warmup']:
        return train['lr'] * t / train['warmup']
    x = (t - train['warmup']) / (train['steps'] - train['warmup'])
    h = {'cosine': (1 + math.cos(math.pi * x)) / 2, 'linear': 1 - x}.get(train['schedule'])
    low = train['lr_min']
    return train['lr'] if h is None else train['lr'] * (low + (1 - low) * h)


mean = {name: torch.zeros_like(w) for name, w in W.items()}
square = {name: torch.zeros_like(w) for name, w in W.items()}
seen = {}  # step: loss, norm of the gradient
for t in range(1, train['steps'] + 1):
    make = {'text': text_batch, 'text_pair': text_pair_batch}.get(task['plugin'], question_batch)
    batch = make(t, train['batch'])
    loss = Step(t).loss(batch)
    for w in W.values():
        w.grad = None
    loss.backward()
    length = math.sqrt(sum((w.grad ** 2).sum().item() for w in W.values()))
    seen[t] = loss.item(), length
    clip = min(1.0, train['clip'] / (length + 1e-6)) if train['clip'] > 0 else 1.0
    with torch.no_grad():
        for name, w in W.items():
            g = clip * w.grad
            mean[name] = train['beta1'] * mean[name] + (1 - train['beta1']) * g
            square[name] = train['beta2'] * square[name] + (1 - train['beta2']) * g * g
            step = mean[name] / (1 - train['beta1'] ** t)
            step = step / ((square[name] / (1 - train['beta2'] ** t)).sqrt() + train['eps'])
            decay = train['weight_decay'] if w.dim() >= 2 else 0.0
            w -= rate(t) * (step + decay * w)

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
    return (told_apart(name, a) - told_apart(name, b)).norm().item()


if written:
    write_safetensors(written, W, end_meta)
    print(json.dumps({'losses and gradients of the first steps': worst, 'steps compared': checked}))
    assert checked and worst <= 1e-4
    sys.exit()
apart = max(distance(n, W[n], end[n]) / (distance(n, end[n], start[n]) + 1e-12) for n in W)
print(json.dumps({'arch': arch, 'head': head, 'scheme': name_of, 'losses and gradients': worst,
                  'weights': apart}))
assert checked >= 4 and worst <= 1e-5 and apart <= 1e-4
