"""How much memory the processes of a sandbox hold together."""

import contextlib
import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

PROC = Path("/proc")
PAGE = os.sysconf("SC_PAGE_SIZE")
SHARED = "/dev/zero (deleted)"  # what Linux calls memory that processes share and no file has
TWICE = 2  # what waits in a socket may exceed its buffer by the message that filled it
MAP_BYTES = 320  # what the kernel keeps for each mapping, with its place in a tree
MAX_MAPS = 65_530  # mappings of one process: Linux's own limit
EVERY = 20  # looks, after which the maps of a process are read again though it has not grown


class Memory:
    """What a sandbox holds; asked again and again, so it remembers what takes long to find out."""

    def __init__(self) -> None:
        self.looks = 0
        # Process → (what it mapped when its maps were read, shared memory: number → bytes)
        self.maps: dict[Path, tuple[int, dict[str, int]]] = {}
        with socket.socket(socket.AF_UNIX) as one:  # of which nobody here may enlarge the buffer
            self.buffer = TWICE * one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)

    def exceeds(self, most: int) -> bool:
        """Whether the processes here hold more than so many bytes, shared pages counted once."""
        self.looks += 1
        processes = [one for one in PROC.iterdir() if one.name.isdigit() and one.name != "1"]
        sizes = {one: _sizes(one) for one in processes}
        hidden = self._let_go({one: sharable for one, (_, sharable, _) in sizes.items()}, most)
        hidden += _sockets() * self.buffer + sum(map(_page_tables, processes))
        # The quick look counts shared pages once for each process, and each page as a mapping.
        mappings = sum(min(total // PAGE, MAX_MAPS) for total, _, _ in sizes.values())
        resident = sum(resident for _, _, resident in sizes.values())
        if resident + hidden + mappings * MAP_BYTES <= most:
            return False
        hidden += sum(map(_mappings, processes)) * MAP_BYTES
        return sum(map(_proportional, processes)) + hidden > most

    def _let_go(self, mapped: Mapping[Path, int], most: int) -> int:
        """Bytes that are shared without a file. A process may let go of their pages and keep them.

        Counted whole, as it is mapped. What is resident of it counts twice.
        """
        if sum(mapped.values()) <= most:
            return 0
        self.maps = {one: seen for one, seen in self.maps.items() if one in mapped}
        shared: dict[str, int] = {}
        for one, size_now in mapped.items():
            before, _ = self.maps.get(one, (-1, {}))
            if before != size_now or self.looks % EVERY == 0:
                self.maps[one] = size_now, _shared(one)
            for number, size in self.maps[one][1].items():
                shared[number] = max(size, shared.get(number, 0))
        return sum(shared.values())


def _sockets() -> int:
    """How many sockets this sandbox has, also those that are only on their way in a message."""
    try:
        return (PROC / "net" / "unix").read_bytes().count(b"\n") - 1  # without the headings
    except OSError:
        return 0


def _tasks(process: Path) -> Iterator[Path]:
    """Where its memory is told: by the process, or by its threads if the first has ended."""
    yield process
    with contextlib.suppress(OSError):
        yield from (process / "task").iterdir()


def _sizes(process: Path) -> tuple[int, int, int]:
    """Bytes that are mapped, that may be shared, and that are resident; zeros if it has just ended.

    May be shared: all but what Linux counts as data, which is a process's own.
    """
    for one in _tasks(process):
        with contextlib.suppress(OSError, IndexError):
            size, resident, _, _, _, data, _ = map(int, (one / "statm").read_text().split())
            if size:
                return size * PAGE, (size - data) * PAGE, resident * PAGE
    return 0, 0, 0


def _page_tables(process: Path) -> int:
    """Bytes of the tables by which the kernel finds a process's pages; they are no page of it."""
    for one in _tasks(process):
        with contextlib.suppress(OSError):
            for line in (one / "status").read_bytes().splitlines():
                if line.startswith(b"VmPTE:"):
                    return int(line.split()[1]) * 1024
    return 0


def _mappings(process: Path) -> int:
    """How many mappings a process has; as many as it may have, if it can't be looked into."""
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
    """Number of a shared memory → the bytes of it that this process maps.

    A process that does not let itself be looked into counts with all that it maps.
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
                # Parts of one may be mapped by themselves.
                found[number] = max(found.get(number, 0), int(start, 16) + high - low)
        if text:
            return found
    return {}
