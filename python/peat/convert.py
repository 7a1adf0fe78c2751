# SPDX-License-Identifier: MIT
"""Numbers of other programs as a safetensors file, which weights start from (model.start, model.embedding).

  python3 -m peat.convert ARRAY.npy TO            one array, as numpy.save writes it
  python3 -m peat.convert WORDS.txt TO --tokens START
        the table of tokens with the vectors of words, as word2vec, GloVe and fastText write them: of the
        tokens that are words of the text; other tokens keep their numbers. START is the file of
        `peat export DIR CELL --start`, which has the texts of the tokens and the table as it was drawn.
"""
import sys

import numpy

from . import reading, safetensors
from .reading import Refused


def write(path, name, array):
    array = numpy.ascontiguousarray(array)
    if array.dtype.name not in ("float16", "float32", "float64"):
        raise Refused(f"weights are float16, float32 or float64, not {array.dtype}")
    if not numpy.isfinite(array.astype("<f4")).all():
        raise Refused("a number is not finite in fp32")
    safetensors.write(path, {name: array.astype(array.dtype.newbyteorder("<"))})


def read_start(path):
    """The texts of the tokens (None: a token has none) and their table."""
    tensors, meta = safetensors.read(path)
    tokens, table = meta.get("peat_tokens"), tensors.get("token.weight")
    if not table:
        raise Refused(f"'{path}' has no token.weight")
    if not tokens:
        raise Refused(f"'{path}' has no texts of tokens: either the task has none, or it is not of "
                      "`peat export --start`")
    if table[0] != "F32":
        raise Refused(f"'{path}': token.weight has dtype '{table[0]}', and `peat export` writes F32")
    return reading.parse(tokens), numpy.frombuffer(table[2], "<f4").reshape(table[1]).copy()


def words(path):
    """Each word of the text with its numbers. The numbers are counted from the end of a line, since a
    word may have spaces. word2vec writes a first line: how many words there are, and how wide."""
    width, promised, n = None, None, 0
    with open(path, encoding="utf-8-sig") as f:
        for number, line in enumerate(f, 1):
            field = line.split()
            if width is None and len(field) == 2 and all(x.isdigit() for x in field):
                promised, width = map(int, field)
            elif field:
                width = width or len(field) - 1
                part = line.rstrip().rsplit(None, width)
                if width < 1 or len(part) != width + 1:
                    raise Refused(f"'{path}': line {number}: {len(field) - 1} numbers where {width} are expected")
                n += 1
                try:
                    yield part[0], [float(x) for x in part[1:]]
                except ValueError as e:
                    raise Refused(f"'{path}': line {number}: {e}") from None
    if promised not in (None, n):
        raise Refused(f"'{path}' has {n} words, and its first line says {promised}: is it cut?")


def convert_words(source, target, start):
    texts, table = read_start(start)
    ids, found, n = {}, set(), 0
    for i, text in enumerate(texts):
        if text is not None:
            ids.setdefault(text, []).append(i)
    for word, vector in words(source):
        n += 1
        if len(vector) != table.shape[1]:
            raise Refused(f"vectors of '{source}' are {len(vector)} wide, and token.weight is {table.shape[1]} wide")
        if word in ids and not found.issuperset(ids[word]):
            table[ids[word]] = vector
            found.update(ids[word])
    if not found:
        raise Refused(f"none of the {n} words of '{source}' is one of the {len(texts)} tokens")
    write(target, "token.weight", table)
    print(f"token.weight: {len(found)} of {len(texts)} tokens found among {n} words of {source}")


def main(argument):
    numpy.seterr(over="ignore")  # write() refuses what is not finite
    try:
        if len(argument) == 4 and argument[2] == "--tokens":
            convert_words(argument[0], argument[1], argument[3])
        elif len(argument) == 2 and argument[0].endswith(".npy"):
            write(argument[1], "array", numpy.load(argument[0], allow_pickle=False))
        else:
            sys.exit(__doc__.strip())
    except UnicodeDecodeError:
        sys.exit(f"peat.convert: '{argument[0]}' is not text in UTF-8")
    except (Refused, OSError, ValueError) as e:
        sys.exit(f"peat.convert: {e}")


if __name__ == "__main__":
    main(sys.argv[1:])
