# SPDX-License-Identifier: MIT
"""Files that PEAT wrote: regular ones, JSON as the program reads it, and the seals of JSON."""
import hashlib
import json
import os
import stat


class Refused(Exception):
    """A file or a directory that cannot be used; its text says why, in one line."""

    def __init__(self, text):
        super().__init__("".join(c if c.isprintable() else repr(c)[1:-1] for c in text))


def not_a_file(path, mode):
    """Why what is there can neither be read nor written, as core/base/file_open.c says it."""
    if stat.S_ISDIR(mode):
        return Refused(f"'{path}' is a directory")
    if stat.S_ISLNK(mode):
        return Refused(f"'{path}' is a symbolic link, and inside a run directory nothing is written through one; "
                       "copy the directory with cp -rL")
    kind = "a named pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    return Refused(f"'{path}' is {kind}, not a regular file")


def contents(path):
    """The bytes of a regular file. It is asked before it is opened, as opening a pipe or a device has effects, and again
    when it is open, as the name may be another file's by then."""
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            raise not_a_file(path, mode)
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY), "rb") as f:
            mode = os.fstat(f.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise not_a_file(path, mode)
            return f.read()
    except FileNotFoundError:
        raise
    except OSError as e:
        raise Refused(f"cannot open '{path}': {e.strerror}") from None


# ---- JSON ----

def _once(pairs):
    """A map without a key twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _int(digits):
    n = int(digits)
    if not -2**63 <= n < 2**63:
        raise ValueError("a whole number has more than 64 bits")
    return n


def _real(digits):
    x = float(digits)
    if x in (float("inf"), -float("inf")):
        raise ValueError("a number is beyond a double")
    return x


def _constant(word):
    raise ValueError(f"'{word}' is no number")


def _texts(v):
    """Every text in it, keys too."""
    if isinstance(v, str):
        yield v
    elif isinstance(v, (list, dict)):
        for one in (*v, *(v.values() if isinstance(v, dict) else ())):
            yield from _texts(one)


def parse(data):
    """JSON in UTF-8 as the program accepts it: each key once, numbers that fit, texts without the character 0; anything
    else is a ValueError, also what is nested too deeply."""
    try:
        text = data.decode() if isinstance(data, bytes) else data
        found = json.loads(text, object_pairs_hook=_once, parse_int=_int, parse_float=_real, parse_constant=_constant)
        for one in _texts(found) if "\\u" in text else ():
            if b"\0" in one.encode():  # half of a pair has no bytes
                raise ValueError("a text has the character 0")
        return found
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _number(x):
    """As core/base/json_text.c writes a double where it is hashed."""
    if x == int(x) and -2**63 <= x < 2**63:
        return str(int(x))
    for digits in range(1 if abs(x) < 2.2250738585072014e-308 else 15, 17):
        if float(f"{x:.{digits}g}") == x:
            return f"{x:.{digits}g}"
    return f"{x:.17g}"


def canonical(v):
    """The text of which a seal is the SHA-256: sorted keys, no spaces."""
    if isinstance(v, dict):
        return "{" + ",".join(f"{canonical(k)}:{canonical(v[k])}" for k in sorted(v)) + "}"
    if isinstance(v, list):
        return "[" + ",".join(map(canonical, v)) + "]"
    return _number(v) if isinstance(v, float) else json.dumps(v, ensure_ascii=False)


def seal(record):
    """What `check` is of a map."""
    text = canonical({k: v for k, v in record.items() if k != "check"})
    return hashlib.sha256(text.encode()).hexdigest()


def record(path):
    """A map of a JSON file whose seal, if it has one, is that of its content."""
    try:
        found = parse(contents(path))
    except ValueError as e:
        raise Refused(f"'{path}' is not JSON: {e}") from None
    if not isinstance(found, dict):
        raise Refused(f"'{path}' is not a map")
    most = 2 if os.path.basename(path) == "result.json" else 1
    if found.get("format", 1) not in range(1, most + 1):
        raise Refused(f"'{path}' was written by a newer peat, format {found['format']}; this one reads {most}")
    if "check" in found and found["check"] != seal(found):
        raise Refused(f"'{path}' is damaged: its checksum does not match its content")
    return found


def line(data):
    """A map of a line of metrics.jsonl, whose seal has eight digits."""
    text, mark, rest = data.rpartition(b',"check":"')
    if mark and rest != hashlib.sha256(text).hexdigest()[:8].encode() + b'"}':
        raise ValueError("its checksum does not match its content")
    found = parse(data)
    if not isinstance(found, dict):
        raise ValueError("it is not a map")
    return found
