# SPDX-License-Identifier: MIT
"""Numbers and texts as the tables of PEAT show them."""
from __future__ import annotations

import functools
import math

UNITS = ("", "k", "M", "G", "T", "P")


def finite(x) -> bool:
    return x is not None and math.isfinite(x)


def half_of(mean, high):
    """Half of an interval by its middle and its upper end; None: there is none."""
    return high - mean if finite(high) else None


def interval(x, half=None, signed=False) -> str:
    """"2.143 ± 0.012": two significant digits of the half-width; without one four of x."""
    if not finite(x):
        return "-"
    sign = "+" if signed and x else ""
    if not finite(half) or not half or half < 1e-13 * abs(x):
        spread = " ± 0" if finite(half) else ""
        return (f"{x:{sign}.3e}" if x and not 1e-9 <= abs(x) < 1e9 else f"{x:{sign}.{_decimals(x, 4)}f}") + spread
    most = max(abs(x), half)
    if not 1e-9 <= most < 1e9:
        digits = max(0, min(15, _exponent(most, 2) - _exponent(half, 2) + 1))
        return f"{x:{sign}.{digits}e} ± {half:.1e}"
    decimals = _decimals(half, 2)
    return f"{x:{sign}.{decimals}f} ± {half:.{decimals}f}"


def _exponent(x, digits):
    return int(f"{x:.{digits - 1}e}".partition("e")[2])


def _decimals(x, digits):
    return max(0, min(15, digits - 1 - _exponent(x, digits))) if x else 0


def count(x) -> str:
    """"43.5k": three digits with a unit."""
    if not finite(x):
        return "-"
    unit = 0
    while abs(x) >= 999.5 and unit + 1 < len(UNITS):
        x, unit = x / 1000, unit + 1
    if abs(x) >= 999.5:
        return f"{x * 1000 ** unit:.2e}"
    return f"{x:.{0 if not unit or abs(x) >= 99.95 else 1 if abs(x) >= 9.995 else 2}f}{UNITS[unit]}"


def ratio(x) -> str:
    """"12 : 1" or "1 : 12"."""
    if not finite(x) or x <= 0:
        return "-"
    y = x if x >= 1 else 1 / x
    text = f"{y:.3g}" if y < 1000 else f"{y:.0f}"
    return f"{text} : 1" if x >= 1 else f"1 : {text}"


def p_value(p) -> str:
    return "-" if not finite(p) else f"{p:.1e}" if p < 0.001 else f"{p:.3f}"


def shown(text: str) -> str:
    """The text with what is not printable, line ends too, as escapes."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def plural(n, word: str) -> str:
    return f"{n} {word}{'s' * (n != 1)}"


# ---- means over seeds of what the program's table does not have: curves and findings ----

@functools.lru_cache(maxsize=None)
def t95(df: int) -> float:
    """The 97.5 % quantile of Student's t, by bisection of its distribution (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    def inside(t):
        angle = math.atan(t / math.sqrt(df))
        term = math.cos(angle) if df % 2 else 1.0
        total = term if df > 1 else 0.0
        for k in range(3 if df % 2 else 2, df, 2):
            term *= math.cos(angle) ** 2 * (k - 1) / k
            total += term
        return 2 / math.pi * (angle + math.sin(angle) * total) if df % 2 else math.sin(angle) * total
    low, high = 0.0, 13.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) < 0.95 else (low, middle)
    return low


def mean_interval(values) -> tuple:
    """The mean of the finite values with the half-width of its 95 % interval (Student's t); NaN where undefined."""
    values = [x for x in values if finite(x)]
    n = len(values)
    mean = math.fsum(values) / n if n else math.nan
    if n < 2:
        return mean, math.nan
    return mean, t95(n - 1) * math.sqrt(math.fsum((x - mean) ** 2 for x in values) / (n - 1) / n)
