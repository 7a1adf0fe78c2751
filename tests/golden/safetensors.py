#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""safetensors.py: files of tensors and the reason for which each is refused, in the words of both readers.

    safetensors.py > tests/golden/safetensors.json   for unit.safetensors and integration.python

An empty reason: the file is read.
"""
import json
import struct

BIG = 2**32


def tensor(name, dtype="F32", shape=(1,), offsets=(0, 4)):
    """An entry of a header; None leaves a key out."""
    keys = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
    return f"{json.dumps(name)}:{json.dumps({k: v for k, v in keys.items() if v is not None})}"


def header(*entries):
    return "{" + ",".join(entries) + "}"


NOT_WHOLE, NO_OFFSETS = "tensor 'a' has a shape that is not of whole numbers", "tensor 'a' has no data_offsets"
START, META, HEADER = "the header does not begin with '{'", "the metadata is not an object", "header: "
FILES = [  # a header, bytes of data behind it, the reason
    ("[]", 0, START), (" {}", 0, START), ("", 0, START), ("{}", 0, ""), ("{}  ", 0, ""), ("{}", 1, "1 bytes after the last tensor"),
    ('{"a":1}', 0, "tensor 'a' is not described by an object"),
    ('{"a":null}', 0, "tensor 'a' is not described by an object"),
    (header(tensor("a", dtype=None)), 4, "tensor 'a' has no dtype"),
    (header(tensor("a", dtype=4)), 4, "tensor 'a' has no dtype"),
    (header(tensor("a", shape=None)), 4, "tensor 'a' has no shape"),
    (header(tensor("a", shape=4)), 4, "tensor 'a' has no shape"),
    (header(tensor("a", offsets=None)), 4, NO_OFFSETS), (header(tensor("a", offsets=[0])), 4, NO_OFFSETS),
    (header(tensor("a", offsets=[0, 4, 8])), 4, NO_OFFSETS), (header(tensor("a", offsets=[0, "4"])), 4, NO_OFFSETS),
    (header(tensor("a", offsets=[0.0, 4.0])), 4, NO_OFFSETS), (header(tensor("a", offsets=[False, 4])), 4, NO_OFFSETS),
    (header(tensor("a", dtype="F31")), 4, "tensor 'a' has dtype 'F31', which the format does not have"),
    (header(tensor("a", dtype="f32")), 4, "tensor 'a' has dtype 'f32', which the format does not have"),
    (header(tensor("a", dtype="")), 4, "tensor 'a' has dtype '', which the format does not have"),
    (header(tensor("a", shape=[1] * 6)), 4, ""), (header(tensor("a", shape=[1] * 7)), 4, "tensor 'a' has rank 7, the limit is 6"),
    (header(tensor("a", shape=[-1])), 4, NOT_WHOLE), (header(tensor("a", shape=[1.5])), 4, NOT_WHOLE),
    (header(tensor("a", shape=[1.0])), 4, NOT_WHOLE), (header(tensor("a", shape=["1"])), 4, NOT_WHOLE),
    (header(tensor("a", shape=[True])), 4, NOT_WHOLE), (header(tensor("a", shape=[[1]])), 4, NOT_WHOLE),
    (header(tensor("a", shape=[BIG, BIG])), 4, "the size of tensor 'a' overflows"),
    (header(tensor("a", shape=[BIG, BIG, 0], offsets=[0, 0])), 0, "the size of tensor 'a' overflows"),
    (header(tensor("a", shape=[0, BIG, BIG], offsets=[0, 0])), 0, ""),
    (header(tensor("a", shape=[2**63])), 4, HEADER), (header(tensor("a", shape=[-2**63])), 4, NOT_WHOLE),
    (header(tensor("a", offsets=[4, 0])), 4, "tensor 'a' ends before it begins"),
    (header(tensor("a", offsets=[-4, 0])), 4, "tensor 'a' ends before it begins"),
    (header(tensor("a", shape=[2], offsets=[0, 8])), 4, "tensor 'a' ends beyond the file"),
    (header(tensor("a", shape=[2])), 4, "tensor 'a' has 4 bytes, its shape takes 8"),
    (header(tensor("a", offsets=[4, 8])), 8, "a hole of 4 bytes before tensor 'a'"),
    (header(tensor("a", shape=[2], offsets=[0, 8]), tensor("b", offsets=[4, 8])), 8, "tensor 'b' overlaps another"),
    (header(tensor("a"), tensor("b")), 4, "tensor 'b' overlaps another"),
    (header(tensor("b", offsets=[4, 8]), tensor("a")), 8, ""),
    (header(tensor("a", shape=[0], offsets=[4, 4]), tensor("b"), tensor("c", shape=[0], offsets=[0, 0])), 4, ""),
    (header(tensor("a")), 7, "3 bytes after the last tensor"),
    (header(tensor("a"), tensor("a")), 4, HEADER), ('{"__metadata__":{"a":"","a":""}}', 0, HEADER),
    ('{"a":', 0, HEADER), ("{} x", 0, HEADER), ("{}\0", 0, HEADER), ("{},", 0, HEADER), ("{'a':1}", 0, HEADER),
    ('{"\xff":1}', 0, HEADER), ('{"a\\u0000b":1}', 0, HEADER), ('{"a\0b":1}', 0, HEADER), ('{"a\nb":1}', 0, HEADER),
    ('{"\\ud800":1}', 0, HEADER), ('{"\\ud83d\\ude00":1}', 0, "tensor '\U0001f600' is not described by an object"),
    ('{"a":NaN}', 0, HEADER), ('{"a":-Infinity}', 0, HEADER), ('{"a":1e999}', 0, HEADER), ('{"a":01}', 0, HEADER),
    ('{"a":' + "[" * 3000 + "]" * 3000 + "}", 0, HEADER), ("{\0}\0", 0, HEADER),
    ('{"__metadata__":[]}', 0, META), ('{"__metadata__":null}', 0, META), ('{"__metadata__":{}}', 0, ""),
    ('{"__metadata__":{"a":1}}', 0, "metadata 'a' is not a text"),
    ('{"__metadata__":{"a":"b"},' + tensor("") + "}", 4, ""),
    (header(*(tensor(d, d, [1], [at, at + n]) for d, at, n in
              (("F64", 0, 8), ("I64", 8, 8), ("U64", 16, 8), ("F32", 24, 4), ("I32", 28, 4), ("U32", 32, 4), ("F16", 36, 2),
               ("BF16", 38, 2), ("I16", 40, 2), ("U16", 42, 2), ("I8", 44, 1), ("U8", 45, 1), ("BOOL", 46, 1),
               ("F8_E4M3", 47, 1), ("F8_E5M2", 48, 1)))), 49, ""),
]
BYTES = [  # whole files
    (b"", "too short for a safetensors file"), (b"\3\0\0\0\0\0\0", "too short for a safetensors file"),
    (b"\3\0\0\0\0\0\0\0{}", "the header ends beyond the file"),
    (b"\xff" * 8 + b"{}", "a header of 18446744073709551615 bytes, the limit is 100000000"),
    (struct.pack("<Q", 2**63) + b"{}", "a header of 9223372036854775808 bytes, the limit is 100000000"),
]


def main():
    files = [(struct.pack("<Q", len(text)) + text + bytes(n), why)
             for text, n, why in ((one.encode("latin-1"), n, why) for one, n, why in FILES)]
    print(json.dumps([{"bytes": data.hex(), "says": why} for data, why in files + BYTES]))


if __name__ == "__main__":
    main()
