#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Loss and gradients of every kind of model, written in PyTorch from docs/checkpoint.md and the
schemes' pages. Writes architectures.json, which tests/grad/check/test_torch.c compares with PEAT.

  architectures.py > architectures.json      (needs python3-torch)

Weights and inputs are formulas that both sides know. A gradient is kept as its product with a wave,
sum over i of g_i cos(i), which every element has a part in.
"""
import json
import math

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
V, D, H, L, FF, B, T, S, P, CLASSES = 7, 8, 2, 2, 12, 2, 5, 4, 3, 3
TAPS = 3  # conv_width
C = D // H
s = math.sqrt(D)  # embed_scale

token = torch.tensor([[(7 * b + 3 * t + b * t) % V for t in range(T)] for b in range(B)])
target = torch.tensor([[(5 * b + 2 * t + 1) % V for t in range(T)] for b in range(B)])
source = torch.tensor([[(3 * (b * S + t) + 1) % V for t in range(S)] for b in range(B)])
patch = torch.tensor([[[((5 * ((b * T + t) * P + i)) % 11 - 5) / 8 for i in range(P)]
                       for t in range(T)] for b in range(B)])
label = torch.tensor([1, 2])
segment = torch.tensor([[0, 0, 1, 1, 1], [0, 1, 1, 1, 1]])
masked = target.clone()  # -1: not asked for
masked[0, 0] = masked[0, 3] = masked[1, 4] = -1
pad = torch.tensor([[False] * T, [False] * (T - 1) + [True]])
source_pad = torch.tensor([[False] * S, [False] * (S - 1) + [True]])


BLOCKS = {  # norm, norm_eps, activation, bias, qk_norm
    'gpt2': ('layer', 1e-5, 'gelu', True, None),
    'llama': ('rms', 1e-6, 'swiglu', False, None),
    'qwen3': ('rms', 1e-6, 'swiglu', False, 'rms'),
    'gated': ('layer', 1e-5, 'geglu', False, 'layer'),
}


class Model:
    def __init__(self, scheme, across, mixer, block):
        self.scheme, self.across, self.mixer, self.W = scheme, across, mixer, {}
        self.norm_kind, self.eps, self.act, self.biases, self.qk_norm = BLOCKS[block]

    def w(self, name, *shape):
        if name not in self.W:
            n, seed = math.prod(shape), sum(name.encode()) % 1000
            x = 0.25 * torch.sin(0.37 * torch.arange(n) + 0.11 * seed + 0.5)
            if 'norm' in name and name.endswith('weight'):
                x = x + 1
            self.W[name] = x.reshape(shape).requires_grad_()
        assert self.W[name].shape == torch.Size(shape)
        return self.W[name]

    def norm(self, x, name, kind=None):
        n, rms = x.shape[-1], (kind or self.norm_kind) == 'rms'
        w, b = self.w(name + '.weight', n), None if rms or not self.biases else self.w(name + '.bias', n)
        if rms:
            return x * (x.square().mean(-1, keepdim=True) + self.eps).rsqrt() * w
        return F.layer_norm(x, (n,), w, b, self.eps)

    def linear(self, x, name, out, bias=None):
        b = self.w(name + '.bias', out) if self.biases or bias else None
        return F.linear(x, self.w(name + '.weight', out, x.shape[-1]), b)

    # ---- schemes: `at` is the prefix of the stack, T_max its longest sequence

    def stream(self, at, pos, T_max):
        if self.scheme == 'learned':
            return s * self.w(at + 'position.0.learned.table', T_max, D)[pos]
        if self.scheme == 'sinusoidal':
            a = pos[:, None] * 1e4 ** (-2 * torch.arange(D // 2) / D)
            return torch.stack([a.sin(), a.cos()], -1).reshape(len(pos), D)
        return torch.zeros(len(pos), D)

    def turn(self, x, pos):
        if self.scheme != 'rotary':
            return x
        a = pos[:, None] * 1e4 ** (-2 * torch.arange(C // 2) / C)
        u, v = x[..., 0::2], x[..., 1::2]
        return torch.stack([u * a.cos() - v * a.sin(), u * a.sin() + v * a.cos()], -1).flatten(-2)

    def bucket(self, delta, causal):
        def side(d, n):
            e = n // 2
            if d < e:
                return d
            return min(e + int((n - e) * math.log(d / e) / math.log(128 / e) + 1e-12), n - 1)
        if causal:
            return side(max(-delta, 0), 32)
        return side(abs(delta), 16) + (16 if delta > 0 else 0)

    def bias(self, at, q, k, causal):
        """[H, Tq, Tk] in logit units"""
        delta = (k[None, :] - q[:, None]).tolist()
        if self.scheme == 'alibi':
            m = torch.tensor([2.0 ** (-8 * (h + 1) / H) for h in range(H)])
            return -m[:, None, None] * torch.tensor(delta).abs()
        if self.scheme == 't5_bias':
            row = torch.tensor([[self.bucket(int(d), causal) for d in line] for line in delta])
            return self.w(at + 'position.0.t5_bias.table', 32, H)[row].permute(2, 0, 1)
        return torch.zeros(H, len(q), len(k))

    def score(self, at, q, k, T_max):
        """[H, Tq, Tk] in units of q.k"""
        if self.scheme != 'tupe':
            return torch.zeros(H, len(q), len(k))
        n = at + 'position.0.tupe.'
        p = F.layer_norm(self.w(n + 'p', T_max, D), (D,), self.w(n + 'norm_weight', D),
                         self.w(n + 'norm_shift', D), 1e-5)
        u, v = self.w(n + 'u_q', H, C, D), self.w(n + 'u_k', H, C, D)
        return torch.einsum('id,hcd,je,hce->hij', p[q], u, p[k], v)

    # ---- blocks

    def attend(self, name, x, memory, hidden, acts):
        """acts(q, k) -> q, k, score, bias; hidden [B, Tq, Tk]: what is not seen"""
        def heads(y):
            return y.reshape(B, -1, H, C).transpose(1, 2)
        w = self.w(name + '.qkv.weight', 3 * D, D).split(D)
        b = self.w(name + '.qkv.bias', 3 * D).split(D) if self.biases else (None,) * 3
        q, k, v = (heads(F.linear(y, w[i], b[i])) for i, y in enumerate((x, memory, memory)))
        if self.qk_norm:
            q, k = self.norm(q, name + '.q_norm', self.qk_norm), self.norm(k, name + '.k_norm', self.qk_norm)
        q, k, score, bias = acts(q, k)
        terms = 1 if self.scheme == 'tupe' and 'cross' not in name else 0
        logits = (q @ k.transpose(-2, -1) + score) / math.sqrt((1 + terms) * C) + bias
        logits = logits.masked_fill(hidden[:, None], -math.inf)
        o = (logits.softmax(-1) @ v).transpose(1, 2).reshape(B, -1, D)
        return self.linear(o, name + '.out', D)

    def conv(self, name, x, pad, causal):
        q, k, v = self.linear(x, name + '.in', 3 * D).chunk(3, -1)
        n, ahead = x.shape[1], 0 if causal else (TAPS - 1) // 2
        kv = F.pad((k * v).masked_fill(pad[..., None], 0), (0, 0, TAPS - 1, ahead))
        taps = self.w(name + '.taps', TAPS, D)
        sums = sum(taps[i] * kv[:, TAPS - 1 - i + ahead:][:, :n] for i in range(TAPS))
        return self.linear(q * sums, name + '.out', D)

    def rnn(self, name, x, pad, causal):
        z, o = self.linear(x, name + '.in', 2 * D).chunk(2, -1)
        f, z, n = self.linear(x, name + '.forget', D).sigmoid(), z.tanh(), x.shape[1]

        def read(places, part):
            h, rows = torch.zeros(B, D)[:, part], [None] * n
            for t in places:
                new = f[:, t, part] * h + (1 - f[:, t, part]) * z[:, t, part]
                rows[t] = h = torch.where(pad[:, t, None], h, new)
            return torch.stack(rows, 1)
        half = D if causal else (D + 1) // 2
        h = torch.cat([read(range(n), slice(0, half)), read(range(n)[::-1], slice(half, D))], -1)
        return self.linear(o.sigmoid() * h, name + '.out', D)

    def own(self, at, pos, T_max, causal, front=0):
        """What the scheme does in self-attention, behind `front` places that it does not see."""
        def acts(q, k):
            def behind(x):
                return torch.cat([x[:, :, :front], self.turn(x[:, :, front:], pos)], 2)
            full = (front, 0, front, 0)
            return (behind(q), behind(k), F.pad(self.score(at, pos, pos, T_max), full),
                    F.pad(self.bias(at, pos, pos, causal), full))
        return acts

    def cross(self, q_pos, k_pos):
        def acts(q, k):
            nothing = torch.zeros(H, len(q_pos), len(k_pos))
            if not self.across:
                return q, k, nothing, nothing
            return self.turn(q, q_pos), self.turn(k, k_pos), nothing, self.bias('', q_pos, k_pos, 1)
        return acts

    def block(self, name, x, hidden, acts, crossing=None):
        y = self.norm(x, name + 'norm1')
        if self.mixer == 'attention':
            x = x + self.attend(name + 'attention', y, y, hidden, acts)
        else:
            # A causal model hides what follows; padding is hidden from all.
            causal, unseen = bool(hidden[0, 0, -1] and not hidden[0, -1, -1]), hidden.all(1)
            x = x + getattr(self, self.mixer)(name + self.mixer, y, unseen, causal)
        if crossing:
            memory, unseen, across = crossing
            y = self.norm(x, name + 'norm_cross')
            x = x + self.attend(name + 'cross', y, memory, unseen, across)
        y = self.norm(x, name + 'norm2')
        if self.act == 'gelu':
            y = F.gelu(self.linear(y, name + 'mlp.up', FF))
        else:
            g, v = self.linear(y, name + 'mlp.up', 2 * FF).chunk(2, -1)
            y = (F.silu if self.act == 'swiglu' else F.gelu)(g) * v
        return x + self.linear(y, name + 'mlp.down', D)

    # ---- models

    def decoder(self):
        pos = torch.arange(T)
        x = s * self.w('token.weight', V, D)[token] + self.stream('', pos, T)
        hidden = (pos[None, :] > pos[:, None]).expand(B, T, T)
        for l in range(L):
            x = self.block(f'block.{l}.', x, hidden, self.own('', pos, T, True))
        logits = self.norm(x, 'norm') @ self.w('head.weight', V, D).T
        return F.cross_entropy(logits.reshape(-1, V), target.reshape(-1))

    def encoder(self):
        """Class token first, at position 0; the last place of the second row is padding."""
        pos = torch.arange(T + 1)
        x = s * torch.cat([self.w('class.token', 1, D).expand(B, 1, D),
                           self.w('token.weight', V, D)[token]], 1) + self.stream('', pos, T + 1)
        hidden = F.pad(pad, (1, 0))[:, None, :].expand(B, T + 1, T + 1)
        for l in range(L):
            x = self.block(f'block.{l}.', x, hidden, self.own('', pos, T + 1, False))
        logits = self.norm(x, 'norm')[:, 0] @ self.w('head.weight', CLASSES, D).T
        return F.cross_entropy(logits, label)

    def bert(self):
        """Both heads, and segments: the class token is in the first."""
        pos = torch.arange(T + 1)
        x = s * torch.cat([self.w('class.token', 1, D).expand(B, 1, D),
                           self.w('token.weight', V, D)[token]], 1) + self.stream('', pos, T + 1)
        x = x + s * self.w('segment.weight', 2, D)[F.pad(segment, (1, 0))]
        hidden = F.pad(pad, (1, 0))[:, None, :].expand(B, T + 1, T + 1)
        for l in range(L):
            x = self.block(f'block.{l}.', x, hidden, self.own('', pos, T + 1, False))
        y = self.norm(x, 'norm')
        logits = y[:, 1:] @ self.w('head.weight', V, D).T
        classes = y[:, 0] @ self.w('head.class.weight', CLASSES, D).T
        return (F.cross_entropy(logits.reshape(-1, V), masked.reshape(-1), ignore_index=-1) +
                F.cross_entropy(classes, label))

    def vit(self):
        """Class token outside the order, with nothing in the place of streams."""
        pos = torch.arange(T)
        x = s * (self.linear(patch, 'patch', D, True)) + self.stream('', pos, T)
        x = torch.cat([s * self.w('class.token', 1, D).expand(B, 1, D), x], 1)
        hidden = torch.zeros(B, T + 1, T + 1, dtype=torch.bool)
        for l in range(L):
            x = self.block(f'block.{l}.', x, hidden, self.own('', pos, T, False, 1))
        logits = self.norm(x, 'norm')[:, 0] @ self.w('head.weight', CLASSES, D).T
        return F.cross_entropy(logits, label)

    def seq2seq(self):
        pos, place = torch.arange(T), torch.arange(S)
        table = self.w('token.weight', V, D)
        m = s * table[source] + self.stream('encoder.', place, T)
        hidden = source_pad[:, None, :].expand(B, S, S)
        for l in range(L):
            m = self.block(f'encoder.block.{l}.', m, hidden, self.own('encoder.', place, T, False))
        m = self.norm(m, 'encoder.norm')
        x = s * table[token] + self.stream('', pos, T)
        hidden = (pos[None, :] > pos[:, None]).expand(B, T, T)
        unseen = source_pad[:, None, :].expand(B, T, S)
        for l in range(L):
            x = self.block(f'block.{l}.', x, hidden, self.own('', pos, T, True),
                           (m, unseen, self.cross(pos, place)))
        logits = self.norm(x, 'norm') @ self.w('head.weight', V, D).T
        return F.cross_entropy(logits.reshape(-1, V), target.reshape(-1))


    def llama(self):
        """As LLaMA's users write it: a matrix for each of q, k, v, gate and up, and the halves of a head turned
        together, for which the rows of q and k change places."""
        halves = torch.cat([torch.arange(D).reshape(H, C)[:, i::2] for i in (0, 1)], 1).flatten()
        angle = torch.outer(torch.arange(T), 1e4 ** (-2 * torch.arange(C // 2) / C)).repeat(1, 2)

        def turned(x):
            return x * angle.cos() + torch.cat([-x[..., C // 2:], x[..., :C // 2]], -1) * angle.sin()

        def rms(x, name):
            return self.w(name + '.weight', D) * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)

        x = s * self.w('token.weight', V, D)[token]
        for l in range(L):
            n = f'block.{l}.'
            q, k, v = self.w(n + 'attention.qkv.weight', 3 * D, D).chunk(3)
            gate, up = self.w(n + 'mlp.up.weight', 2 * FF, D).chunk(2)
            y = rms(x, n + 'norm1')
            q, k, v = ((y @ w.T).reshape(B, T, H, C).transpose(1, 2) for w in (q[halves], k[halves], v))
            score = turned(q) @ turned(k).transpose(2, 3) / C ** 0.5 + torch.full((T, T), -math.inf).triu(1)
            o = (score.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D)
            x = x + o @ self.w(n + 'attention.out.weight', D, D).T
            y = rms(x, n + 'norm2')
            x = x + (F.silu(y @ gate.T) * (y @ up.T)) @ self.w(n + 'mlp.down.weight', D, FF).T
        self.logits = rms(x, 'norm') @ self.w('head.weight', V, D).T
        return F.cross_entropy(self.logits.reshape(-1, V), target.reshape(-1))


def fixture(arch, scheme, across, mixer='attention', block='gpt2'):
    model = Model(scheme, across, mixer, block)
    loss = getattr(model, arch)()
    loss.backward()
    gradient = {name: float((w.grad.flatten() * torch.cos(torch.arange(w.numel()) * 1.0)).sum())
                for name, w in sorted(model.W.items())}
    more = {} if block == 'gpt2' else {'block': block}
    if hasattr(model, 'logits'):
        more['logits'] = model.logits.flatten().tolist()
    return {'arch': arch, 'mixer': mixer, 'scheme': scheme, 'across': across, 'loss': float(loss),
            'gradient': gradient, **more}


cases = [fixture(a, x, False) for a in ('decoder', 'encoder', 'bert', 'vit', 'seq2seq')
         for x in ('learned', 'sinusoidal', 'rotary', 'alibi', 't5_bias', 'tupe')]
cases += [fixture('seq2seq', x, True) for x in ('rotary', 'alibi')]
cases += [fixture(a, x, False, m) for a in ('decoder', 'encoder') for m in ('conv', 'rnn')
          for x in ('learned', 'sinusoidal')]
cases += [fixture(a, x, x == 'rotary', 'attention', b) for b in ('qwen3', 'gated')
          for a in ('decoder', 'encoder', 'vit', 'seq2seq') for x in ('learned', 'rotary')]
cases += [fixture(a, 'learned', False, 'conv', 'llama') for a in ('decoder', 'encoder')]
cases += [fixture('llama', 'rotary', False, 'attention', 'llama')]
print('[\n' + ',\n'.join(json.dumps(c) for c in cases) + '\n]')
