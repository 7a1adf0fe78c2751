#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Random numbers, and the batches of every task that makes its questions itself, written from
"Draws" and "Data" of docs/checkpoint.md. tests/integration/torch_train.py trains with them.

  draws.py > draws.json      what tests/contract/check/test_draws.c compares with PEAT's batches
"""
import json
import math

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def philox(key, index, use):
    k0, k1 = key & M32, key >> 32
    c = [index & M32, index >> 32, 0, use]
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(b >> 32) ^ c[1] ^ k0, b & M32, (a >> 32) ^ c[3] ^ k1, a & M32]
        k0, k1 = (k0 + 0x9E3779B9) & M32, (k1 + 0xBB67AE85) & M32
    return c


def fnv(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = ((h ^ byte) * 0x100000001b3) & M64
    return h


def stream(seed, purpose, name):
    r = philox(fnv(purpose.encode() + b'\0' + name.encode() + b'\0'), seed, 2)
    return r[0] | r[1] << 32


def substream(s, n):
    r = philox(s, n, 1)
    return r[0] | r[1] << 32


def bits(s, i):
    r = philox(s, i, 0)
    return r[0] | r[1] << 32


def uniform(s, i):
    return (bits(s, i) >> 11) * 2.0 ** -53


def normal(s, i):
    r = philox(s, i, 0)
    u = (((r[0] | r[1] << 32) >> 11) + 1) * 2.0 ** -53
    v = ((r[2] | r[3] << 32) >> 11) * 2.0 ** -53
    return math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v)


def below(s, i, n):
    return (bits(s, i) >> 1) % n


# ---- "Data": questions

BOS, SEP, EOS, FIRST = 0, 1, 2, 3


class Question:
    """Question number `number` of `of` of length n in evaluation; of = 0: of a training row."""

    def __init__(self, p, s, first, n, longest=0, number=0, of=0):
        self.p, self.s, self.first, self.n = p, s, first, n
        self.longest, self.number, self.of = longest, number, of

    def d(self, i, m):
        return below(self.s, self.first + i, m)

    def side(self):
        if self.of == 0:
            return self.d(0, 2)
        self.first = self.number // 2 << 32
        return self.number % 2

    def kind(self, i, m):
        return self.number * m // self.of if self.of else self.d(i, m)

    def symbols(self, at=0, first=FIRST):
        return [first + self.d(at + i, self.p['symbols']) for i in range(self.n)]


def copy(q):
    x = q.symbols()
    return x, x


def reverse(q):
    x = q.symbols()
    return x, x[::-1]


def sort(q):
    x = q.symbols()
    return x, sorted(x)


def replace(q):
    a, b = FIRST + q.d(0, q.p['symbols']), FIRST + q.d(1, q.p['symbols'] - 1)
    b += b >= a
    return [a, b] + [a] * q.n, [b] * q.n


def selective_copy(q):
    x, y = [], []
    for i in range(q.n):
        marked = q.d(i, q.n - i) < q.p['marked'] - len(y)
        x.append(FIRST + (q.d(q.n + i, q.p['symbols']) if marked else q.p['symbols']))
        y += x[-1:] if marked else []
    return x, y


def addition(q):
    a = b = q.n
    if q.of == 0:
        b = q.p['min_len'] + q.d(1 << 31, q.longest - q.p['min_len'] + 1)
    else:
        c = q.kind(0, 2 * q.n - 1)
        a, b = (q.n, c + 1) if c < q.n else (c - q.n + 1, q.n)
    digits = []
    for at, n in (0, a), (a, b):
        least = [1 if i == 0 and n > 1 else 0 for i in range(n)]
        digits.append([least[i] + q.d(at + i, 10 - least[i]) for i in range(n)])
    total = sum(int(''.join(map(str, number))) for number in digits)
    y = [FIRST + int(c) for c in str(total)[::-1 if q.p['reversed'] else 1]]
    y += [EOS] * (max(a, b) + 1 - len(y))
    x, z = ([FIRST + c for c in number] for number in digits)
    return x + [FIRST + 10] + z, y


def parity(q):
    x = [FIRST + q.d(i, 2) for i in range(q.n)]
    return x, [5 if sum(x) - FIRST * q.n & 1 else 6]


def count(q):
    x = q.symbols()
    if q.p['of'] == 'copies':
        x = [x[0]] * q.n
    return x, [FIRST + q.p['symbols'] + q.n % q.p['modulus']]


def needle(q):
    x, at = q.symbols(), q.kind(q.n, q.n - 1)
    x[at] = FIRST + q.p['symbols']
    return x, [x[at + 1]]


def marked(q):
    x, at = q.symbols(1), q.d(0, q.n)
    return x, [x[at]], at


def order(q):
    first = 3 + q.side()
    one, other = q.d(1, q.n), q.d(2, q.n - 1)
    other += other >= one
    x = q.symbols(3, FIRST + 2)
    x[min(one, other)], x[max(one, other)] = first, 7 - first
    return x, [first]


def bag(q):
    x = q.symbols()
    times = [x.count(FIRST + s) for s in range(q.p['symbols'])]
    lead = [FIRST + s for s in range(q.p['symbols']) if times[s] == max(times)]
    y, at = lead[q.d(q.n, len(lead))], q.d(q.n + 1, q.n)
    if len(lead) > 1:
        while x[at] == y:
            at = (at + 1) % q.n
        x[at] = y
    return x, [y]


def planted_collision(q):
    second = q.side()
    x = q.symbols(1, 9)
    x[q.p['place']], x[q.p['other']] = (4, 5) if second else (3, 6)
    return x, [7 + second]


SPOKEN = copy, reverse, sort, replace, selective_copy, addition
NAMED = parity, count, needle, marked, order, bag, planted_collision
ASK = {ask.__name__: ask for ask in SPOKEN + NAMED}


def row(ask, q, n=None):
    """Tokens and targets, filled up to n places, and the place that the task's stream marks."""
    x, y, *mark = ask(q)
    token, target = [BOS] + x + [SEP], [-1] * (len(x) + 1) + y
    if ask in SPOKEN:
        token, target = token + y, target + [EOS]
    fill = (n or len(token)) - len(token)
    made = {'token': token + [EOS] * fill, 'target': target + [-1] * fill}
    if mark:
        made['mark'] = [int(i == 1 + mark[0]) for i in range(len(made['token']))]
    return made


def training_rows(name, p, longest, fed, seed, step, B):
    s = substream(stream(seed, 'batch', name), step)
    rows = []
    for b in range(B):
        f = b << 32
        n = p['min_len'] + below(s, f, longest - p['min_len'] + 1)
        rows.append(row(ASK[name], Question(p, s, f + 1, n, longest), fed))
    return rows


VALID, TEST = 0x5345515f4556414c, 0x5345515f54455354


def evaluated_rows(name, p, n, of, part=VALID):
    s = part + n
    return [row(ASK[name], Question(p, s, i << 32, n, 0, i, of)) for i in range(of)]


# ---- "Data": shapes

def shape(p, side, s, first, c):
    y, x = 1 + below(s, first, side - 2), 1 + below(s, first + 1, side - 2)
    level = [below(s, first + 2 + i, p['levels'] - 2) for i in range(side * side)]
    beside, at = [1, side, -1, -side], y * side + x
    for step in beside:
        level[at + step] = 0
    level[at], level[at + beside[c]] = p['levels'] - 2, p['levels'] - 1
    return {'token': level + [p['levels']], 'target': [-1] * side * side + [p['levels'] + 1 + c]}


def training_shapes(p, side, seed, step, B):
    s = substream(stream(seed, 'batch', 'images'), step)
    return [shape(p, side, s, (b << 32) + 1, below(s, b << 32, 4)) for b in range(B)]


def evaluated_shapes(p, side, of, part=0x494d4147455f4556):
    return [shape(p, side, part, i // 4 << 32, i % 4) for i in range(of)]


# ---- cases: with `tokens` as eval.tokens there are `of` questions of the length that is evaluated

SEQ_LEN, SEED, STEP, ROWS = 32, 7, 3, 5


def questions():
    def case(name, p, fed, length, tokens, of):
        return {'task': name, 'config': p, 'length': length, 'tokens': tokens,
                'train': training_rows(name, p, p['max_len'], fed, SEED, STEP, ROWS),
                'evaluated': evaluated_rows(name, p, length, of),
                'test': evaluated_rows(name, p, length, of, TEST)}

    def p(**more):
        return {'min_len': 2, 'max_len': 9, **more}

    for ask, k in (copy, 10), (reverse, 10), (sort, 50):
        yield case(ask.__name__, p(symbols=k), 20, 6, 21, 3)
    yield case('replace', p(symbols=3), 22, 6, 21, 3)
    yield case('selective_copy', p(symbols=14, marked=2), 13, 7, 9, 3)
    for reversed in False, True:
        yield case('addition', p(reversed=reversed), 31, 3, 35, 7)
    yield case('parity', p(), 11, 6, 3, 3)
    for of in 'copies', 'letters':
        yield case('count', p(of=of, symbols=5, modulus=4), 11, 6, 3, 3)
    yield case('needle', p(symbols=10), 11, 6, 7, 7)
    yield case('marked', p(symbols=10), 11, 6, 3, 3)
    yield case('order', p(symbols=10), 11, 6, 5, 5)
    for k in 2, 5:  # with fewer symbols they lead together more often
        yield case('bag', p(symbols=k), 11, 6, 5, 5)
    yield case('planted_collision', p(symbols=4, place=1, other=0), 11, 6, 5, 5)


def images():
    p, side = {'side': 5, 'levels': 9}, 5
    return {'task': 'images', 'config': p, 'length': side * side + 1, 'tokens': 6,
            'train': training_shapes(p, side, SEED, STEP, ROWS),
            'evaluated': evaluated_shapes(p, side, 6),
            'test': evaluated_shapes(p, side, 6, 0x494d4147455f5453)}


if __name__ == '__main__':
    cases = [json.dumps(case) for case in [*questions(), images()]]
    print(json.dumps({'seq_len': SEQ_LEN, 'seed': SEED, 'step': STEP})[:-1] + ', "case": [\n' +
          ',\n'.join(cases) + '\n]}')
