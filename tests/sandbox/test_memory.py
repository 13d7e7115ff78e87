"""How the shared memory of processes is counted, with made-up /proc files.

The tests check what counts, and when maps are read again.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from grading.sandbox.inside import memory

KB = 1024
SEGMENT = "7f00-{end:x} rw-s 00000000 00:05 {inode}     /dev/zero (deleted)\n"
OTHERS = "5600-9600 r-xp 00000000 fd:00 77 /usr/bin/python\n7f00-8f00 rw-s 00000000 00:05 78 /x\n"
Put = Callable[[str, int, dict[str, int]], None]


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Return a function that writes the /proc files of a made-up process.

    Its arguments are the process id, mapped pages, and shared segments: inode → bytes.
    """
    monkeypatch.setattr(memory, "PROC", tmp_path)
    monkeypatch.setattr(memory, "PAGE", KB)
    monkeypatch.setattr(memory, "MAP_BYTES", 0)
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "unix").write_text("Num RefCount Protocol\n")

    def process(name: str, size: int, segments: dict[str, int]) -> None:
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "statm").write_text(f"{size} 0 0 1 0 0 0\n")
        maps = [SEGMENT.format(end=0x7F00 + length, inode=i) for i, length in segments.items()]
        (tmp_path / name / "maps").write_text(OTHERS + "".join(maps))

    return process


def held(watched: memory.Memory, up_to: int) -> int:
    """Return the smallest limit that `watched` doesn't exceed, at most `up_to`."""
    return next(most for most in range(0, up_to + 1, KB) if not watched.exceeds(most))


def test_shared_segments_count_once_however_many_processes_map_them(put: Put) -> None:
    put("2", 9, {"11": 3 * KB, "12": 2 * KB})
    put("3", 9, {"11": 3 * KB})
    put("4", 9, {})
    assert held(memory.Memory(), 9 * KB) == 5 * KB


def test_shared_memory_of_an_ended_process_no_longer_counts(put: Put, tmp_path: Path) -> None:
    watched = memory.Memory()
    put("2", 9, {"11": 3 * KB})
    put("3", 9, {"12": 2 * KB})
    assert held(watched, 9 * KB) == 5 * KB
    (tmp_path / "3").rename(tmp_path / "ended")
    assert held(watched, 9 * KB) == 3 * KB


def test_maps_are_read_again_when_the_size_changes_or_after_some_checks(
    put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []
    shared = memory._shared

    def counted(process: Path) -> dict[str, int]:
        reads.append(process.name)
        return shared(process)

    monkeypatch.setattr(memory, "_shared", counted)
    watched = memory.Memory()
    put("2", 9, {"11": KB})
    for _ in range(5 * memory.REREAD_CHECKS):
        assert not watched.exceeds(2 * KB)
    assert 5 <= len(reads) <= 6, "reading maps is slow"
    put("2", 10, {"11": 3 * KB})
    assert watched.exceeds(2 * KB)
    put("2", 10, {"11": 2 * KB, "12": 2 * KB})  # the same size with other segments
    assert any(watched.exceeds(3 * KB) for _ in range(memory.REREAD_CHECKS))
