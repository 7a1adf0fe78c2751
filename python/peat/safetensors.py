# SPDX-License-Identifier: MIT
"""Files of tensors: read strictly, and written."""
import json
import struct


class Refused(Exception):
    """A file or a directory that cannot be used; its text says why."""


LIMIT = 100 * 1000 * 1000  # bytes of a header
BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4}


def _once(pairs):
    """A map without a key twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def parse(text):
    """JSON whose maps have each key once; ValueError also where it is nested too deeply."""
    try:
        return json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _whole(numbers):
    return isinstance(numbers, list) and all(type(n) is int for n in numbers)


def _entry(name, entry, size):
    """Dtype, shape, begin and end of a tensor in `size` bytes of data."""
    if not isinstance(entry, dict):
        raise ValueError(f"tensor '{name}' is not described by an object")
    dtype, shape, offsets = (entry.get(key) for key in ("dtype", "shape", "data_offsets"))
    if not isinstance(dtype, str) or dtype not in BYTES:
        raise ValueError(f"tensor '{name}' has dtype '{dtype}'; {', '.join(BYTES)} can be read")
    if not _whole(shape) or min(shape, default=0) < 0:
        raise ValueError(f"tensor '{name}' has a shape that is not of whole numbers")
    if not _whole(offsets) or len(offsets) != 2:
        raise ValueError(f"tensor '{name}' has no data_offsets")
    begin, end = offsets
    takes = BYTES[dtype]
    for n in shape:
        takes *= n
    if begin < 0 or end < begin:
        raise ValueError(f"tensor '{name}' ends before it begins")
    if end > size:
        raise ValueError(f"tensor '{name}' ends beyond the file")
    if end - begin != takes:
        raise ValueError(f"tensor '{name}' has {end - begin} bytes, its shape takes {takes}")
    return dtype, shape, begin, end


def _read(data):
    if len(data) < 8:
        raise ValueError("too short for a safetensors file")
    n = struct.unpack("<Q", data[:8])[0]
    if n > LIMIT:
        raise ValueError(f"a header of {n} bytes, the limit is {LIMIT}")
    if n > len(data) - 8:
        raise ValueError("the header ends beyond the file")
    if data[8:9] != b"{" or n == 0:
        raise ValueError("the header does not begin with '{'")
    header, size, at = parse(data[8:8 + n]), len(data) - 8 - n, 0
    meta = header.pop("__metadata__", {})
    if not isinstance(meta, dict) or not all(isinstance(text, str) for text in meta.values()):
        raise ValueError("the metadata is not an object of texts")
    tensors = {name: _entry(name, entry, size) for name, entry in header.items()}
    for name, (_, _, begin, end) in sorted(tensors.items(), key=lambda item: item[1][2:]):
        if begin != at:
            raise ValueError(f"tensor '{name}' overlaps another" if begin < at else
                             f"a hole of {begin - at} bytes before tensor '{name}'")
        at = end
    if at != size:
        raise ValueError(f"{size - at} bytes after the last tensor")
    return {name: (dtype, shape, data[8 + n + begin:8 + n + end])
            for name, (dtype, shape, begin, end) in tensors.items()}, meta


def parse_file(data, path):
    """{name: (dtype, shape, bytes)} in the order of the header, and the metadata, of the bytes of a file."""
    try:
        return _read(data)
    except ValueError as e:
        raise Refused(f"'{path}' is not a safetensors file of PEAT: {e}") from None


def read(path):
    """As parse_file."""
    with open(path, "rb") as f:
        return parse_file(f.read(), path)


def image(arrays, meta=None):
    """The bytes of a file of NumPy arrays by name, of float16, float32 or float64 and little-endian, with texts as
    metadata, in parts."""
    header, at = {"__metadata__": meta} if meta else {}, 0
    for name, x in arrays.items():
        header[name] = {"dtype": f"F{8 * x.itemsize}", "shape": list(x.shape), "data_offsets": [at, at + x.nbytes]}
        at += x.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return [struct.pack("<Q", len(text)) + text, *(x.tobytes() for x in arrays.values())]


def write(path, arrays, meta=None):
    """Writes such a file."""
    with open(path, "wb") as f:
        f.writelines(image(arrays, meta))
