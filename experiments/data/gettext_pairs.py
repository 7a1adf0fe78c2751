#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pairs of a message and its translation, from gettext catalogues (.mo) of installed packages.

    gettext_pairs.py LANGUAGE [CATALOGUE.mo ...] > pairs.tsv

Without catalogues, all of /usr/share/locale/LANGUAGE/LC_MESSAGES. Each message is written once, in
the order of its bytes, so the same catalogues give the same file. Left out: plurals, messages with
tabs or line ends, and those that were not translated.
"""
import glob
import struct
import sys


def fail(path, why):
    sys.exit(f"gettext_pairs.py: {path}: {why}")


def text_at(data, table, i, order, path):
    length, offset = struct.unpack_from(order + "2I", data, table + 8 * i)
    if offset + length > len(data):
        fail(path, "is truncated")
    return data[offset:offset + length]


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    order = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}.get(data[:4])
    if not order or len(data) < 20:
        fail(path, "is not a gettext catalogue")
    count, sources, targets = struct.unpack_from(order + "3I", data, 8)
    if max(sources, targets) + 8 * count > len(data):
        fail(path, "is truncated")
    pairs = [(text_at(data, sources, i, order, path), text_at(data, targets, i, order, path))
             for i in range(count)]
    header = dict(pairs).get(b"", b"").lower()
    return pairs if b"charset=utf-8" in header else []


def usable(source, target):
    both = source + target
    return source and target and source != target and not any(c in both for c in b"\t\n\r\0\4")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    language = sys.argv[1]
    folder = f"/usr/share/locale/{language}/LC_MESSAGES"
    paths = sys.argv[2:] or sorted(glob.glob(folder + "/*.mo"))
    if not paths:
        sys.exit(f"gettext_pairs.py: {folder} has no catalogues: install a package with "
                 f"translations into {language}, or name catalogues")
    found = {}
    for path in paths:
        for source, target in read(path):
            if usable(source, target):
                found.setdefault(source, target)
    for source in sorted(found):
        sys.stdout.buffer.write(source + b"\t" + found[source] + b"\n")


main()
