"""How much memory the processes of a sandbox hold together."""

import os
from pathlib import Path

PROC = Path("/proc")
PAGE = os.sysconf("SC_PAGE_SIZE")


def exceeds(most: int) -> bool:
    """Whether the processes here hold more than so many bytes, shared pages counted once."""
    processes = [one for one in PROC.iterdir() if one.name.isdigit() and one.name != "1"]
    if sum(map(_resident, processes)) <= most:
        return False  # the quick look: it counts shared pages once for each process
    return sum(map(_proportional, processes)) > most


def _resident(process: Path) -> int:
    try:
        return int((process / "statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0  # it has just ended


def _proportional(process: Path) -> int:
    try:
        for line in (process / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except PermissionError:
        return _resident(process)
    except OSError:
        pass
    return 0
