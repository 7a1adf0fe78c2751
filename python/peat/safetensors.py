# SPDX-License-Identifier: MIT
"""Files of tensors: read by the rules of the program, and written."""
import json
import struct

from .reading import Refused, contents, parse

HEADER, TENSORS, METADATA, RANK = 100 * 1000 * 1000, 65536, 4096, 6  # the most of each that the program reads
BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U64": 8, "U32": 4, "U16": 2,
         "U8": 1, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1}


def _entry(name, entry, size):
    """Dtype, shape, begin and end of a tensor in `size` bytes of data."""
    if not isinstance(entry, dict):
        raise ValueError(f"tensor '{name}' is not described by an object")
    dtype, shape, offsets = (entry.get(key) for key in ("dtype", "shape", "data_offsets"))
    if not isinstance(dtype, str):
        raise ValueError(f"tensor '{name}' has no dtype")
    if dtype not in BYTES:
        raise ValueError(f"tensor '{name}' has dtype '{dtype}', which the format does not have")
    if not isinstance(shape, list):
        raise ValueError(f"tensor '{name}' has no shape")
    if len(shape) > RANK:
        raise ValueError(f"tensor '{name}' has rank {len(shape)}, the limit is {RANK}")
    takes = BYTES[dtype]
    for n in shape:
        if type(n) is not int or n < 0:
            raise ValueError(f"tensor '{name}' has a shape that is not of whole numbers")
        takes *= n
        if takes >= 2**63:
            raise ValueError(f"the size of tensor '{name}' overflows")
    if not isinstance(offsets, list) or len(offsets) != 2 or any(type(n) is not int for n in offsets):
        raise ValueError(f"tensor '{name}' has no data_offsets")
    begin, end = offsets
    if begin < 0 or end < begin:
        raise ValueError(f"tensor '{name}' ends before it begins")
    if end > size:
        raise ValueError(f"tensor '{name}' ends beyond the file")
    if end - begin != takes:
        raise ValueError(f"tensor '{name}' has {end - begin} bytes, its shape takes {takes}")
    return dtype, shape, begin, end


def _metadata(meta):
    if not isinstance(meta, dict):
        raise ValueError("the metadata is not an object")
    if len(meta) > METADATA:
        raise ValueError(f"more than {METADATA} entries of metadata")
    for key, text in meta.items():
        if not isinstance(text, str):
            raise ValueError(f"metadata '{key}' is not a text")
    return meta


def _header(data):
    """The header, and where the data begin."""
    if len(data) < 8:
        raise ValueError("too short for a safetensors file")
    n = struct.unpack("<Q", data[:8])[0]
    if n > HEADER:
        raise ValueError(f"a header of {n} bytes, the limit is {HEADER}")
    if n > len(data) - 8:
        raise ValueError("the header ends beyond the file")
    if data[8:9] != b"{" or n == 0:
        raise ValueError("the header does not begin with '{'")
    try:
        header = parse(data[8:8 + n])
    except ValueError as e:
        raise ValueError(f"header: {e}") from None
    if len(header) > TENSORS + 1:
        raise ValueError(f"more than {TENSORS} tensors")
    return header, 8 + n


def parsed(data):
    """Of the bytes of a file what read() gives; ValueError where core/model/safetensors.c refuses them, in its words."""
    header, first = _header(data)
    meta, at = _metadata(header.pop("__metadata__", {})), 0
    tensors = {name: _entry(name, entry, len(data) - first) for name, entry in header.items()}
    for name, (_, _, begin, end) in sorted(tensors.items(), key=lambda item: item[1][2:]):
        if begin != at:
            raise ValueError(f"tensor '{name}' overlaps another" if begin < at else
                             f"a hole of {begin - at} bytes before tensor '{name}'")
        at = end
    if at != len(data) - first:
        raise ValueError(f"{len(data) - first - at} bytes after the last tensor")
    return {name: (dtype, shape, data[first + begin:first + end])
            for name, (dtype, shape, begin, end) in tensors.items()}, meta


def parse_file(data, path):
    """{name: (dtype, shape, bytes)} in the order of the header, and the metadata, of the bytes of a file."""
    try:
        return parsed(data)
    except ValueError as e:
        raise Refused(f"'{path}' is not a safetensors file of PEAT: {e}") from None


def read(path):
    """As parse_file, of a regular file."""
    return parse_file(contents(path), path)


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
