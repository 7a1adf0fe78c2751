# SPDX-License-Identifier: MIT
"""Linear probes for position and token, at the input and after every block.

A number is predicted by ridge regression, a class by linear discriminants with shrunk covariance (Ledoit and Wolf 2004).
Columns have mean 0 and variance 1 over the training rows. The discriminants are not scikit-learn's, because tokens at the
input do not vary within their class, and its solvers need classes that do."""
from __future__ import annotations

import math

import numpy as np

from .. import draws

RIDGES = [10.0 ** k for k in range(2, -7, -1)]  # the larger of equals


def hold_out(group, share, key):
    """True where the row's group is held out: round(share * groups) of them, at least one and not all."""
    groups = np.unique(group)
    take = int(math.floor(min(max(share * len(groups), 1.0), len(groups) - 1.0) + 0.5))
    lot = draws.uniform(key, groups)
    return np.isin(group, groups[np.argsort(lot, kind="stable")[:take]])


def standardised(x, test):
    """A constant column becomes 0."""
    x = x.astype(float)
    mean, deviation = x[~test].mean(0), x[~test].std(0)
    constant = (x[~test] == x[~test][:1]).all(0)
    return ((x - mean) / np.where(constant, np.inf, deviation)).astype(np.float32).astype(float)


def ridge_fit(x, y, ridge):
    """The prediction (C + ridge I)^-1 c, with C and c the rows' covariances."""
    mean, n = x.mean(0), len(x)
    covariance = (x - mean).T @ (x - mean) / n + ridge * np.eye(x.shape[1])
    weight = np.linalg.solve(covariance, (x - mean).T @ (y - y.mean()) / n)
    return lambda z: (z - mean) @ weight + y.mean()


def ridge_chosen(x, y, group, key):
    """The ridge with the least error on a fifth of the training groups."""
    if len(np.unique(group)) < 2:
        return RIDGES[len(RIDGES) // 2]
    out = hold_out(group, 0.2, key)
    left = [((ridge_fit(x[~out], y[~out], ridge)(x[out]) - y[out]) ** 2).sum() for ridge in RIDGES]
    return RIDGES[int(np.argmin(left))]


def probe_number(x, y, group, test, key):
    """R² on the test rows, and the mean absolute error."""
    x, train = standardised(x, test), ~test
    read = ridge_fit(x[train], y[train], ridge_chosen(x[train], y[train], group[train], key))
    off, spread = y[test] - read(x[test]), ((y[test] - y[test].mean()) ** 2).sum()
    return 1 - (off ** 2).sum() / spread if spread > 0 else math.nan, np.abs(off).mean()


def shrinkage(rest, covariance):
    """The share of the identity: the estimated error of the covariance over its distance to the identity, both squared."""
    n, d = rest.shape
    squares = (covariance ** 2).sum()
    distance = squares - np.trace(covariance) ** 2 / d
    error = min((((rest ** 2).sum(1) ** 2).mean() - squares) / n, distance)
    return error / distance if error > 0 else 0.0


def probe_class(x, label, test):
    """The accuracy on the test rows, and that of the most frequent class."""
    x, train = standardised(x, test), ~test
    classes, index, count = np.unique(label[train], return_inverse=True, return_counts=True)
    mean = np.zeros((len(classes), x.shape[1]))
    np.add.at(mean, index, x[train])
    mean /= count[:, None]
    rest = (x[train] - mean[index]).astype(np.float32).astype(float)
    centred = rest - rest.mean(0)
    covariance = centred.T @ centred / len(rest)
    s = shrinkage(rest, covariance)
    value, vector = np.linalg.eigh((1 - s) * covariance + s * np.trace(covariance) / x.shape[1] * np.eye(x.shape[1]))
    white = vector / np.sqrt(np.maximum(value, 1e-9))  # a least variance, which is small beside the columns' 1
    mean = mean @ white
    score = x[test] @ white @ mean.T + np.log(count / train.sum()) - 0.5 * (mean ** 2).sum(1)
    return (classes[score.argmax(1)] == label[test]).mean(), (label[test] == classes[count.argmax()]).mean()


def diagnose_probes(s):
    if s.N < 2 or s.T < 2:
        return {"skipped": "probes need two windows of two tokens"}
    keep = ~s.pad.reshape(-1)
    token, place = s.token.reshape(-1)[keep], np.tile(np.arange(s.T), s.N)[keep]
    window = np.repeat(np.arange(s.N), s.T)[keep]
    key = [draws.substream(s.stream, k) for k in (101, 102, 103)]
    new_place, new_window = hold_out(place, 0.2, key[1]), hold_out(window, 0.2, key[2])
    layers = []
    for layer in range(s.L + 1):
        x = s.x["stream" if layer == s.L else f"block.{layer}.stream"].reshape(-1, s.D)[keep].astype(np.float32)
        r2, error = probe_number(x, place.astype(float), place, new_place, key[0])
        position, chance_position = probe_class(x, place, new_window)
        accuracy, chance_token = probe_class(x, token, new_window)
        layers.append({"layer": layer, "position_r2": r2, "position_error": error, "position_accuracy": position,
                       "token_accuracy": accuracy})
    first, last = layers[0], layers[-1]
    return {"chance": {"position_accuracy": chance_position, "token_accuracy": chance_token},
            "train": int((~new_window).sum()), "test": int(new_window.sum()),
            "summary": "a linear readout finds the position (of windows it was not fitted on) in "
                       f"{100 * first['position_accuracy']:.0f} % of the places at the input and "
                       f"{100 * last['position_accuracy']:.0f} % after the last block, the token in "
                       f"{100 * first['token_accuracy']:.0f} % and {100 * last['token_accuracy']:.0f} %",
            "layers": layers}
