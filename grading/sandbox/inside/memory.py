"""Measurement of the memory that the processes of a sandbox hold together."""

import contextlib
import os
import signal
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

PROC = Path("/proc")
PAGE = os.sysconf("SC_PAGE_SIZE")
SHARED = "/dev/zero (deleted)"  # how /proc/PID/maps shows anonymous shared memory
SOCKET_FACTOR = 2  # the last queued message may exceed a socket's buffer by the buffer's size
MAP_BYTES = 320  # the kernel's own memory for each mapping, including its tree node
MAX_MAPS = 65_530  # Linux's default limit of mappings per process
REREAD_CHECKS = 20  # reread the maps of a process of unchanged size after this many checks


class Memory:
    """The memory held by a sandbox. Caches slow measurements between repeated checks."""

    def __init__(self) -> None:
        self.checks = 0
        # Process → (bytes it mapped when its maps were read, shared memory: inode → bytes)
        self.maps: dict[Path, tuple[int, dict[str, int]]] = {}
        self.killed: set[Path] = set()  # they free their memory when the system gets to it
        # Charge each socket for the default buffer size: the seccomp filter keeps it from growing.
        with socket.socket(socket.AF_UNIX) as one:
            self.buffer = SOCKET_FACTOR * one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)

    def exceeds(self, most: int) -> bool:
        """Return whether the processes, except killed ones, hold more than `most` bytes.

        Shared pages count once.
        """
        self.checks += 1
        processes = _processes()
        self.killed &= processes  # a later process may get the number of one that has ended
        processes -= self.killed
        sizes = {one: _sizes(one) for one in processes}
        hidden = self._unmapped({one: sharable for one, (_, sharable, _) in sizes.items()}, most)
        hidden += _sockets() * self.buffer + sum(map(_page_tables, processes))
        # A fast upper bound: count shared pages once per process, and assume one mapping per page.
        mappings = sum(min(total // PAGE, MAX_MAPS) for total, _, _ in sizes.values())
        resident = sum(resident for _, _, resident in sizes.values())
        if resident + hidden + mappings * MAP_BYTES <= most:
            return False
        hidden += sum(map(_mappings, processes)) * MAP_BYTES
        return sum(map(_proportional, processes)) + hidden > most

    def kill_largest(self) -> None:
        """Kill the process that holds most, and the others of its process group."""
        group = _group(max(_processes(), key=_proportional, default=PROC / "1"))
        # One by one, so that no number of a group can reach processes outside the sandbox.
        for one in _processes():
            if group is not None and _group(one) == group:
                with contextlib.suppress(OSError):
                    os.kill(int(one.name), signal.SIGKILL)
                    self.killed.add(one)

    def _unmapped(self, mapped: Mapping[Path, int], most: int) -> int:
        """Return the bytes of anonymous shared memory.

        Such memory stays allocated after it is unmapped. It counts at its full mapped size, so its
        resident pages count twice. mapped: process → bytes that it may share. If these add up to no
        more than `most`, 0 is returned.
        """
        if sum(mapped.values()) <= most:
            return 0
        self.maps = {one: seen for one, seen in self.maps.items() if one in mapped}
        shared: dict[str, int] = {}
        for one, size_now in mapped.items():
            before, _ = self.maps.get(one, (-1, {}))
            if before != size_now or self.checks % REREAD_CHECKS == 0:
                self.maps[one] = size_now, _shared(one)
            for number, size in self.maps[one][1].items():
                shared[number] = max(size, shared.get(number, 0))
        return sum(shared.values())


def _processes() -> set[Path]:
    """Return the folders in /proc of all processes but init."""
    return {one for one in PROC.iterdir() if one.name.isdigit() and one.name != "1"}


def _group(process: Path) -> int | None:
    """Return a process's group, None if it has ended."""
    try:
        return os.getpgid(int(process.name))
    except OSError:
        return None


def _sockets() -> int:
    """Return the number of Unix sockets, including those in transit in messages."""
    try:
        return (PROC / "net" / "unix").read_bytes().count(b"\n") - 1  # without the header line
    except OSError:
        return 0


def _tasks(process: Path) -> Iterator[Path]:
    """Yield the /proc folders with a process's memory: its own, then its threads'.

    The process's own folder shows nothing if its main thread has ended before the others.
    """
    yield process
    with contextlib.suppress(OSError):
        yield from (process / "task").iterdir()


def _sizes(process: Path) -> tuple[int, int, int]:
    """Return mapped, possibly shared, and resident bytes; zeros if the process ended.

    Possibly shared is everything except what Linux counts as data, which is private.
    """
    for one in _tasks(process):
        with contextlib.suppress(OSError, IndexError):
            size, resident, _, _, _, data, _ = map(int, (one / "statm").read_text().split())
            if size:
                return size * PAGE, (size - data) * PAGE, resident * PAGE
    return 0, 0, 0


def _page_tables(process: Path) -> int:
    """Return the bytes of a process's page tables, which its resident size excludes."""
    for one in _tasks(process):
        with contextlib.suppress(OSError):
            for line in (one / "status").read_bytes().splitlines():
                if line.startswith(b"VmPTE:"):
                    return int(line.split()[1]) * 1024
    return 0


def _mappings(process: Path) -> int:
    """Return the number of a process's mappings.

    If its maps can't be read, the maximum is returned.
    """
    for one in _tasks(process):
        try:
            found = (one / "maps").read_bytes().count(b"\n")
        except PermissionError:
            return min(_sizes(process)[0] // PAGE, MAX_MAPS)
        except OSError:
            continue
        if found:
            return found
    return 0


def _proportional(process: Path) -> int:
    """Return a process's proportional set size, in bytes.

    That is its share of resident memory.
    """
    for one in _tasks(process):
        try:
            for line in (one / "smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
        except PermissionError:
            return _sizes(process)[2]
        except OSError:
            continue
    return 0


def _shared(process: Path) -> dict[str, int]:
    """Return inode → bytes of the anonymous shared memory that this process maps.

    If the process's maps can't be read, everything that it may share counts.
    """
    for one in _tasks(process):
        try:
            text = (one / "maps").read_bytes().decode(errors="replace")
        except PermissionError:
            return {f"process {process.name}": _sizes(process)[1]}
        except OSError:
            continue
        found: dict[str, int] = {}
        for line in text.splitlines() if SHARED in text else ():
            if line.endswith(SHARED):
                span, _, start, _, number, *_ = line.split()
                low, high = (int(end, 16) for end in span.split("-"))
                # Take the highest end: parts of the same memory may be mapped separately.
                found[number] = max(found.get(number, 0), int(start, 16) + high - low)
        if text:
            return found
    return {}
