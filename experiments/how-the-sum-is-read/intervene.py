#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Weights of trained sums with one of their two tables changed, for interventions.yaml.

  intervene.py RUN TO    RUN: a run of ../frozen-embeddings/experiment.yaml; TO: a folder. Needs peat in PATH and NumPy

TO/SUM/CHANGE.sN.safetensors is for scheme learned: sinusoids stand in its table of positions. The positions' r directions
are the fewest principal axes with 90 % of the variance of their rows; the tokens' r are those of their rows as often as
bytes occur in the training part. What tokens lose is their deviation from their mean, which stays, and positions too.
Noise is a vector for each token, drawn once; in all its directions together it varies as much as tokens do in r of all
dimensions by chance. It prints r and the shares of variance that lie in the directions of the other table.
"""
import json
import os
import sys

import numpy

sys.dont_write_bytecode = True  # nothing is left beside sum_of_concat.py
from sum_of_concat import exported, write

TOKEN, POSITION = "token.weight", "position.0.learned.table"
SEEDS = range(10, 18)
SUMS = {"sinusoidal": ("sinusoidal", "free"), "learned": ("learned", "free"), "frozen": ("sinusoidal", "frozen")}


def table(tensors, name):
    dtype, shape, data = tensors[name]
    return numpy.frombuffer(data, {"F32": "<f4", "F64": "<f8"}[dtype]).reshape(shape).astype(float)


def stored(rows):
    return "F32", list(rows.shape), rows.astype("<f4").tobytes()


def sinusoids(config):
    """As a table of learned positions, whose numbers meet embed_scale in the model."""
    scheme, model = config["position"]["scheme"][0], config["model"]
    pair = numpy.arange(model["d_model"] // 2)
    angle = numpy.arange(config["train"]["seq_len"])[:, None] * scheme["base"] ** (-2 * pair / model["d_model"])
    rows = numpy.stack([numpy.sin(angle), numpy.cos(angle)], 2).reshape(len(angle), -1)
    return rows * scheme["scale"] / model["embed_scale"]


def frequencies(config):
    """Of the bytes of the training part."""
    data = numpy.concatenate([numpy.fromfile(path, numpy.uint8) for path in config["task"]["path"]])
    data = data[:int(len(data) * (1 - config["task"]["valid"]))]
    return numpy.bincount(data, minlength=256) / len(data)


class Rows:
    """A table: its rows, how often each is met, and its principal axes."""

    def __init__(self, rows, weight):
        self.rows, self.weight, self.mean = rows, weight[:, None], weight @ rows
        self.apart = rows - self.mean
        _, size, self.axes = numpy.linalg.svd(numpy.sqrt(self.weight) * self.apart, full_matrices=False)
        self.spectrum = size**2

    def variance(self, axes=None):
        return (self.weight * (self.apart if axes is None else self.apart @ axes.T)**2).sum()

    def without(self, axes):
        return self.rows - self.apart @ axes.T @ axes

    def rank(self, share):
        return int(numpy.searchsorted(self.spectrum.cumsum() / self.spectrum.sum(), share)) + 1


def with_noise(token, axes, noise):
    """noise [tokens, r] along axes [r, d], with the variance that r dimensions of the tokens have by chance."""
    noise = Rows(noise @ axes, token.weight[:, 0])
    chance = token.variance() * len(axes) / token.rows.shape[1]
    return token.rows + noise.apart * numpy.sqrt(chance / noise.variance())


def changes(token, position, other, seed):
    """{change: (tokens, positions)}; other: the positions of another seed."""
    draw = numpy.random.RandomState(seed)
    r, d = position.rank(0.9), token.rows.shape[1]
    p, t = position.axes[:r], token.axes[:r]
    random = numpy.linalg.qr(draw.normal(size=(d, r)))[0].T
    noise = draw.normal(size=(len(token.rows), r))
    return {
        "whole": (token.rows, position.rows),
        "tokens-lose-positions": (token.without(p), position.rows),
        "tokens-lose-random": (token.without(random), position.rows),
        "tokens-lose-own": (token.without(t), position.rows),
        "noise-in-positions": (with_noise(token, p, noise), position.rows),
        "noise-in-random": (with_noise(token, random, noise), position.rows),
        "positions-lose-tokens": (token.rows, position.without(t)),
        "positions-lose-random": (token.rows, position.without(random)),
        "swapped": (token.rows, other.rows),
        "permuted": (token.rows, position.rows[draw.permutation(len(position.rows))]),
    }, (r, r / d, token.variance(p) / token.variance(), token.variance(t) / token.variance(),
        position.variance(t) / position.variance())


def cells_of(run, positions, tokens):
    """Of SEEDS, at the learning rate that the run chose: at others these seeds have no result."""
    with open(os.path.join(run, "plan.json")) as f:
        cells = json.load(f)["cells"]
    axes = {"positions": positions, "arm": "sum", "tokens": tokens}
    found = {cell["seed"]: cell for cell in cells if axes.items() <= cell["axes"].items()
             and os.path.exists(os.path.join(run, "cells", cell["id"], "result.json"))}
    return [found[seed] for seed in SEEDS]


def intervene(run, folder, cells):
    """Writes the files of one sum; returns what changes() says of each seed."""
    read_cells = [exported(run, cell["id"]) for cell in cells]
    often = frequencies(read_cells[0][0])
    tokens, positions = [], []
    for config, tensors in read_cells:
        if POSITION not in tensors:
            tensors[POSITION] = stored(sinusoids(config))
        tokens.append(Rows(table(tensors, TOKEN), often))
        rows = table(tensors, POSITION)
        positions.append(Rows(rows, numpy.full(len(rows), 1 / len(rows))))
    said = []
    os.makedirs(folder, exist_ok=True)
    for i, (_, tensors) in enumerate(read_cells):
        made, shares = changes(tokens[i], positions[i], positions[(i + 1) % len(positions)], SEEDS[i])
        said.append(shares)
        for change, (token, position) in made.items():
            write(os.path.join(folder, f"{change}.s{SEEDS[i]}.safetensors"),
                  {**tensors, TOKEN: stored(token), POSITION: stored(position)})
    return said


def main(run, to):
    print("            r      r / width  tokens in positions'  in their own  positions in tokens'")
    for name, which in SUMS.items():
        said = numpy.array(intervene(run, os.path.join(to, name), cells_of(run, *which)))
        ranks, mean = said[:, 0].astype(int), said.mean(0)
        print(f"{name:10}  {f'{min(ranks)} to {max(ranks)}':8}  {mean[1]:7.2f}  {mean[2]:20.3f}  {mean[3]:12.2f}"
              f"  {mean[4]:20.3f}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
