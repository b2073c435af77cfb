"""Files replaced in one step, and a lock beside a file for whoever changes it.

A file that is written appears whole or not at all: its bytes go to a partial file beside it
(`.NAME.….part`), are on the disk, and then take the name. Whoever reads at the same time sees the
old file or the new one. What a process that died has left behind is removed by the next writer.
"""

from __future__ import annotations

import contextlib
import glob
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from priory.base.errors import PrioryWarning, warn

__all__ = ["locked", "real_target", "replacing"]

AGAIN = 0.05
"""Seconds between two looks at a lock that another has."""

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def real_target(path: str | os.PathLike[str]) -> str:
    """Find the file that a path leads to: a link stays a link, and what it names is replaced.

    OSError for what is there and no file: a folder, a device or a pipe.
    """
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        raise OSError(0, "it is no regular file", os.fspath(path))
    return target


@contextlib.contextmanager
def replacing(
    path: str | os.PathLike[str], like: str | os.PathLike[str] | None = None
) -> Iterator[str]:
    """Give the name of a new, empty file, which takes the place of `path` if all goes well.

    The owner, the rights and the links of what was there are kept, or it gets the owner and the
    rights of a file that it shall be `like`; where the system does not allow it, a warning says so.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "answers.csv"
    >>> with replacing(path) as made:
    ...     _ = pathlib.Path(made).write_text("yes")
    >>> path.read_text()
    'yes'
    """
    target = real_target(path)
    folder, name = os.path.split(target)
    handle, made = _partial(folder, name)
    try:
        _remove_stale(folder, name, made)
        yield made
        opened = os.open(made, os.O_RDWR)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
        others = _keep(target, made) if like is None else _be_like(os.stat(like), target, made)
        if os.name != "posix":
            os.close(handle)  # a file that is open cannot be renamed there
            handle = -1
        os.replace(made, target)
        _relink(target, others)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(made)
        raise
    finally:
        if handle >= 0:
            os.close(handle)
    if os.name == "posix":  # the name is on the disk once its folder is
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _partial(folder: str, name: str) -> tuple[int, str]:
    """Make a partial file, locked for as long as its writer lives."""
    import tempfile  # a prediction does without

    while True:
        handle, made = tempfile.mkstemp(prefix=f".{name}.", suffix=".part", dir=folder)
        if os.name != "posix":
            return handle, made  # nobody can remove a file that is open
        with contextlib.suppress(OSError):  # no locks on this file system
            _try_lock(handle)
        if os.path.exists(made):  # else another took it for stale before it was locked
            return handle, made
        os.close(handle)


def _remove_stale(folder: str, name: str, mine: str) -> None:
    """Remove the partial files of this target whose writers are gone: nobody has their lock."""
    for path in glob.glob(os.path.join(glob.escape(folder), f".{glob.escape(name)}.*.part")):
        if path == mine:
            continue
        with contextlib.suppress(OSError):
            if os.name != "posix":
                os.unlink(path)
                continue
            handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
            try:
                _try_lock(handle)
                os.unlink(path)
            finally:
                os.close(handle)


def _keep(target: str, made: str) -> list[str]:
    """Give a new file the owner and the rights of the old one; return its other names here."""
    import shutil

    try:
        old = os.stat(target)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(made, 0o666 & ~mask)
        return []
    with contextlib.suppress(OSError):  # a file system without such attributes
        shutil.copystat(target, made)
    _be_like(old, target, made)
    os.utime(made)
    if old.st_nlink < 2:
        return []
    others = [
        entry.path
        for entry in os.scandir(os.path.dirname(target))
        if entry.path != target and not entry.is_symlink() and os.path.samestat(entry.stat(), old)
    ]
    if len(others) + 1 < old.st_nlink:
        warn(
            f"{target} has {old.st_nlink - 1 - len(others)} more names in other folders (hard "
            "links); these keep what was there before.",
            PrioryWarning,
        )
    return others


def _be_like(old: os.stat_result, target: str, made: str) -> list[str]:
    """Give a new file the owner and the rights of another; it has no other names."""
    mine = os.stat(made)
    if os.name == "posix" and (old.st_uid, old.st_gid) != (mine.st_uid, mine.st_gid):
        try:
            os.chown(made, old.st_uid, old.st_gid)
        except OSError:
            warn(
                f"{target} belonged to user {old.st_uid}, group {old.st_gid}; the system does not "
                f"let it stay so: it is now of user {mine.st_uid}, group {mine.st_gid}.",
                PrioryWarning,
            )
    os.chmod(made, stat.S_IMODE(old.st_mode))
    return []


def _relink(target: str, names: list[str]) -> None:
    """Let the other names of a replaced file lead to the new one, each in one step."""
    for name in names:
        folder, base = os.path.split(name)
        linked = os.path.join(folder, f".{base}.{os.getpid()}.part")
        try:
            os.link(target, linked)
            os.replace(linked, name)
        except OSError as error:
            warn(
                f"{name} was another name of {target} (a hard link) and keeps what was there "
                f"before: {error.strerror or error}.",
                PrioryWarning,
            )


_held = threading.local()


@contextlib.contextmanager
def locked(
    path: str | os.PathLike[str], waiting: Callable[[str], Any] | None = None
) -> Iterator[None]:
    """Let one process, and one thread of it, at a time change a file; others wait.

    The lock is a file beside it, `.NAME.lock`, with the number of the process that has it; the
    system lets go of it however that process ends. `waiting` is told, once, when another has it.
    Readers need no lock.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "days.priory"
    >>> with locked(path), locked(path):
    ...     sorted(p.name for p in path.parent.iterdir())
    ['.days.priory.lock']
    >>> list(path.parent.iterdir())
    []
    """
    target = real_target(path)
    mine: set[str] = _held.__dict__.setdefault("targets", set())
    if target in mine:
        yield
        return
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{name}.lock")
    handle = _take(beside, target, waiting)
    mine.add(target)
    try:
        yield
    finally:
        mine.discard(target)
        with contextlib.suppress(OSError):  # while it is still ours: nobody waits for a lost name
            os.unlink(beside)
        os.close(handle)


def _take(beside: str, target: str, waiting: Callable[[str], Any] | None) -> int:
    told = False
    while True:
        try:
            handle = os.open(beside, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError as error:  # of the file that is meant, not of its lock
            raise type(error)(error.errno, error.strerror, target) from None
        try:
            _try_lock(handle)
            if os.path.samestat(os.fstat(handle), os.stat(beside)):
                os.ftruncate(handle, 0)
                os.write(handle, str(os.getpid()).encode())
                return handle
        except (BlockingIOError, PermissionError):  # Windows says the latter
            if not told and waiting is not None:
                by = os.pread(handle, 20, 0).decode("ascii", "replace") if _can_pread else ""
                waiting(f"waiting for process {by or '?'}, which changes {target}")
            told = True
        except FileNotFoundError:
            pass  # its owner let go of it, name and all
        except OSError:
            warn(f"{target} cannot be locked here: no other must change it now.", PrioryWarning)
            return handle
        os.close(handle)
        time.sleep(AGAIN if told else 0)


_can_pread = hasattr(os, "pread")
