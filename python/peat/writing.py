# SPDX-License-Identifier: MIT
"""Files written whole or not at all, by the rules of core/base/file_write.c."""
import contextlib
import errno
import fcntl
import os
import re
import stat
import time

from .reading import Refused, not_a_file

_PATIENCE = 10  # seconds that a pipe without a reader is waited for


def write_file(path: str, data: bytes) -> None:
    """Writes a file at a path that the user chose. A link keeps its target, and the target is written. A pipe, a character
    device or the name of an open descriptor is written into."""
    path = os.fspath(path)
    try:
        given = re.fullmatch(r"/dev/(stdin|stdout|stderr)|/(?:dev|proc/self)/fd/(\d{1,9})", path)
        if given:
            number = int(given[2]) if given[2] else ("stdin", "stdout", "stderr").index(given[1])
            _into(os.dup(number), data)
            return
        old = _stat_of(path, os.stat)
        if old and (stat.S_ISFIFO(old.st_mode) or stat.S_ISCHR(old.st_mode)):
            _into(_open_device(path), data)
        elif old and not stat.S_ISREG(old.st_mode):
            raise not_a_file(path, old.st_mode)
        else:
            _replace(os.path.realpath(path), old, data)
    except OSError as e:
        raise _failure(path, e) from None


def write_own(path: str, data: bytes) -> None:
    """Writes a file of a run directory: what is there must be a regular file, and not a link."""
    try:
        old = _stat_of(path, os.lstat)
        if old and not stat.S_ISREG(old.st_mode):
            raise not_a_file(path, old.st_mode)
        _replace(path, old, data)
    except OSError as e:
        raise _failure(path, e) from None


def _failure(path, e):
    reason = "nobody reads from this pipe" if e.errno == errno.ENXIO else e.strerror
    return Refused(f"cannot write '{path}': {reason}")


def _stat_of(path, ask):
    """None: there is no such file."""
    try:
        return ask(path)
    except FileNotFoundError:
        return None


def _replace(path, old, data):
    """Writes a temporary file beside the path and renames it. The program removes temporary files of killed processes, for
    an instant also one that is not locked yet; then it is written again."""
    folder, name = os.path.split(path)
    for tries in range(1, 101):
        made = os.path.join(folder, f"{os.fsdecode(os.fsencode(name)[:191])}.tmp-{os.getpid()}-{time.time_ns()}")
        try:
            _write_new(made, old.st_mode & 0o777 if old else None, data)
            os.replace(made, path)
            break
        except BaseException as e:
            there = os.path.exists(made)
            if there:
                os.unlink(made)
            if there or not isinstance(e, FileNotFoundError) or not os.path.isdir(folder or ".") or tries == 100:
                raise
    _sync(folder or ".")


def _write_new(path, mode, data):
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666 if mode is None else mode)
    with open(handle, "wb") as file:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.write(data)
        file.flush()
        if mode is not None:
            with contextlib.suppress(OSError):  # a file system may have no modes
                os.fchmod(handle, mode)
        os.fsync(handle)


def _sync(folder):
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as e:
        if e.errno != errno.EINVAL:  # file systems that cannot sync a directory order names by themselves
            raise
    finally:
        os.close(handle)


def _open_device(path):
    """Opening a pipe waits for its reader, for some seconds."""
    for _ in range(50 * _PATIENCE):
        try:
            handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
            os.set_blocking(handle, True)
            return handle
        except OSError as e:
            if e.errno != errno.ENXIO:
                raise
        time.sleep(1 / 50)
    raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))


def _into(handle, data):
    with open(handle, "wb") as file:
        file.write(data)
