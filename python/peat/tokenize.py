# SPDX-License-Identifier: MIT
"""Pieces of words of texts, and the texts as their ids.

  python3 -m peat.tokenize FOLDER VOCAB MODEL MIB TEXT...     as `peat tokenize` calls it, which checks the texts before

Fills FOLDER with ids.npy, pieces.tsv and sentencepiece.model (docs/guide.md, "Pieces of words"), by SentencePiece's
programs. These read lines, write no id for a line's end, and treat U+2581, by which a piece denotes a space, as a
space. So a text is cut at both, and where a line is very long; the bytes between two segments are written as pieces of
one byte each. Texts and ids may be larger than memory. Prints lines for people on stderr; exit code 1: a program or a
file failed, 2: a setting does not fit the texts.
"""
import array
import hashlib
import mmap
import os
import re
import signal
import subprocess
import sys
import time

SPACE = "\u2581".encode()
SEGMENT_MOST = 1 << 12  # bytes; spm_train's bpe counts 65,535 characters at most
HEADER = 128  # bytes, of ids.npy
BYTES = [bytes([i]) for i in range(256)]  # the pieces with the ids 1 to 256; 0 is the unknown piece
if len(sys.argv) < 6:
    sys.exit("usage: python3 -m peat.tokenize FOLDER VOCAB MODEL MIB TEXT...")
FOLDER, VOCAB, MODEL, MIB = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
PATHS = sys.argv[5:]


def say(text):
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    print(f"peat: {text}", file=sys.stderr, flush=True)


def give_up(code, text):
    say(text)
    sys.exit(code)


# ---- texts ----


def segments(text):
    """The parts that SentencePiece sees: where each begins and ends, and where the next begins."""
    at = 0
    while at < len(text):
        most = min(at + SEGMENT_MOST, len(text))
        ends = [end for end in (text.find(b"\n", at, most), text.find(SPACE, at, most)) if end >= 0]
        end = min(ends, default=most)
        after = end
        if ends:
            after += 1 if text[end] == 10 else len(SPACE)
        elif end < len(text):
            while text[end] & 0xC0 == 0x80:  # inside a character
                end -= 1
            after = end
        yield at, end, after
        at = after


def write_segments(name, texts, most):
    """All segments, or so many bytes of them, evenly over the texts."""
    seen = taken = 0
    share = most / sum(map(len, texts))
    with open(name, "wb") as file:
        for text in texts:
            for at, end, after in segments(text):
                seen += after - at
                if taken <= seen * share:
                    taken += after - at
                    file.write(text[at:end] + b"\n")


# ---- SentencePiece's programs ----


def explain_vocab(said):
    """Two of spm_train's checks say how large a vocabulary may be."""
    most = re.search(r"set it to a value <= (\d+)", said)
    least = re.search(r"smaller than required_chars.* vs (\d+)", said)
    if most:
        give_up(2, f"--vocab {VOCAB} is too large: at most {most[1]} pieces can be learned from this text")
    if least:
        give_up(2, f"--vocab {VOCAB} is too small: the bytes and the characters of this text need at least "
                   f"{int(least[1]) + 1} pieces")


def run(program, doing, *options):
    """Runs a program, whose output goes to the file `said`; the last failed check in it gives the reason of a failure."""
    begun = time.monotonic()
    try:
        with open("said", "ab") as log:
            child = subprocess.Popen([program, *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    except FileNotFoundError:
        give_up(2, f"{program} is not installed, which pieces of words need (Debian: apt-get install sentencepiece)")
    while True:
        try:
            code = child.wait(timeout=10)
            break
        except subprocess.TimeoutExpired:
            say(f"{program} has been {doing} for {time.monotonic() - begun:.0f} s")
    if code < 0:
        give_up(1, f"{program} was ended by {signal.Signals(-code).name}"
                   f"{' (out of memory?)' if -code == signal.SIGKILL else ''}")
    if code > 0:
        said = open("said", errors="replace").read().rpartition("] ")
        why = said[2].partition("\n")[0]
        explain_vocab(why)
        give_up(1, f"{program} failed: {why}" if said[1] else f"{program} failed with status {code}")


def learn():
    """The number of threads is part of the result, since sums are made in their order: it is fixed, not the machine's.
    Rare characters are written as bytes."""
    run("spm_train", "learning", "--input=learn", "--model_prefix=sentencepiece", f"--model_type={MODEL}",
        f"--vocab_size={VOCAB}", f"--max_sentence_length={SEGMENT_MOST + 1}", "--byte_fallback=true",
        "--normalization_rule_name=identity", "--remove_extra_whitespaces=false", "--add_dummy_prefix=false",
        "--allow_whitespace_only_pieces=true", "--character_coverage=0.9995", "--unk_id=0", "--bos_id=-1",
        "--eos_id=-1", "--pad_id=-1", "--num_threads=16", "--random_seed=1")


# ---- the folder ----


def sync(file):
    file.flush()
    os.fsync(file.fileno())


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)
        sync(file)


def read_pieces():
    """The bytes of every piece, from spm_train's list: text, tab, score. The first have fixed names."""
    fixed = [b"<unk>"] + [b"<0x%02X>" % i for i in range(256)]
    pieces = []
    for line in open("sentencepiece.vocab", "rb"):
        name, i = line.rpartition(b"\t")[0], len(pieces)
        if name != fixed[i] if i < len(fixed) else not name:
            give_up(2, f"spm_train's list of pieces: line {i + 1} is not the piece expected there")
        pieces.append(b"" if i == 0 else BYTES[i - 1] if i < len(fixed) else name.replace(SPACE, b" "))
    return pieces


def escaped(piece):
    """Backslashes and all but printable UTF-8 become \\xHH."""
    def plain(c):
        return c >= " " and c != "\\" and not "\x7f" <= c < "\xa0" and not "\ud800" <= c <= "\udfff"

    return "".join(c if plain(c) else "".join("\\x%02X" % b for b in c.encode("utf-8", "surrogateescape"))
                   for c in piece.decode("utf-8", "surrogateescape"))


def write_pieces(pieces, texts):
    version = subprocess.run(["spm_train", "--version"], capture_output=True, text=True).stdout.partition("\n")[0]
    number = re.search(r"\d.*", version)
    lines = [f"# {len(pieces)} pieces: {MODEL}, sentencepiece {number[0] if number else ''}"]
    lines += [f"# of a text of {len(text)} bytes, SHA-256 {hashlib.sha256(text).hexdigest()}" for text in texts]
    lines += ["# id, bytes, text; \\xHH is a byte"]
    lines += [f"{i}\t{len(piece)}\t{escaped(piece)}" for i, piece in enumerate(pieces)]
    write("pieces.tsv", "".join(line + "\n" for line in lines).encode())


def check(path, text, start, end, said):
    """The pieces of a segment are its bytes."""
    if b"".join(said) == text[start:end]:
        return
    at = start
    for piece in said:
        if piece != text[at:min(at + len(piece), end)]:
            break
        at += len(piece)
    give_up(2, f"'{path}': the pieces that spm_encode gives are not the text from byte {at} on")


def write_ids(pieces, texts):
    """An array of NumPy's of ids of 2 bytes, or of 4 from 65,537 pieces on, whose header is written last."""
    kind, n = "H" if len(pieces) <= 1 << 16 else "I", 0
    with open("ids.npy", "wb") as file, open("ids", "rb") as lines:
        file.write(bytes(HEADER))
        for path, text in zip(PATHS, texts):
            for at, end, after in segments(text):
                ids = array.array(kind, map(int, next(lines, b"").split()))
                check(path, text, at, end, [pieces[i] for i in ids])
                ids.extend(1 + byte for byte in text[end:after])
                n += len(ids)
                if sys.byteorder == "big":
                    ids.byteswap()
                file.write(ids)
        head = "{'descr': '<u%d', 'fortran_order': False, 'shape': (%d,), }" % (array.array(kind).itemsize, n)
        file.seek(0)
        file.write(b"\x93NUMPY\1\0" + (HEADER - 10).to_bytes(2, "little") + head.ljust(HEADER - 11).encode() + b"\n")
        sync(file)


def mapped(path):
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def main():
    texts = [mapped(path) for path in PATHS]
    whole, most = sum(map(len, texts)), MIB * (1 << 20)
    os.chdir(FOLDER)
    say(f"learning {VOCAB} pieces ({MODEL}) from {min(most, whole) / (1 << 20):.1f} of {whole / (1 << 20):.1f} MiB")
    write_segments("text", texts, whole)
    write_segments("learn", texts, most)
    learn()
    pieces = read_pieces()
    write_pieces(pieces, texts)
    run("spm_encode", "writing ids", "--model=sentencepiece.model", "--output_format=id", "--input=text",
        "--output=ids")
    write_ids(pieces, texts)
    write("sentencepiece.model", open("sentencepiece.model", "rb").read())  # synced
    for helper in ("text", "learn", "sentencepiece.vocab", "ids", "said"):
        os.remove(helper)


try:
    main()
except (OSError, ValueError, LookupError, ArithmeticError) as error:
    give_up(1, f"cannot write pieces of words: {error}")
