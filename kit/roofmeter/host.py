"""The machine that is measured: its name, and how many of its cores this process was granted."""

from __future__ import annotations

import math
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path("/")


@dataclass(frozen=True)
class Host:
    """What a run says about its machine; nothing that names an owner, a place or a network.

    Attributes
    ----------
    cpu
        The name that the processor gives itself.
    present, granted
        Cores that there are, and cores' worth of time that this process may use.
    memory
        Bytes of main memory, or the limit that the process runs under.
    caches
        Bytes of each cache as the system claims them ("L1d", "L2", "L3"), for one of its kind.
    system
        Kernel and architecture.
    """

    cpu: str
    present: int
    granted: int
    memory: float
    caches: Mapping[str, float] = field(default_factory=dict)
    system: str = ""


def this_host(root: Path = ROOT) -> Host:
    """Describe this machine."""
    return Host(
        cpu=_cpu(root),
        present=os.cpu_count() or 1,
        granted=granted(root),
        memory=_memory(root),
        caches=_caches(root),
        # Of a kernel's release only the numbers: what follows names who built it.
        system=f"{platform.system()} {_numbers(platform.release())}, {platform.machine()}",
    )


def _numbers(release: str) -> str:
    found = re.match(r"[\d.]*\d", release)
    return found[0] if found else "unknown"


def granted(root: Path = ROOT) -> int:
    """Cores that this process may use: those of its affinity, less where a quota is smaller.

    A quota of 1.5 cores counts as one: with two threads, both would be stopped now and then.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, int(min(cores, quota(root))))


def quota(root: Path = ROOT) -> float:
    """Cores' worth of time that the control groups of this process allow; infinite without one.

    Read as in the kernel's documentation, "Control Group v2" (cpu.max) and "CFS Bandwidth
    Control" (cpu.cfs_quota_us). A group is held to the limits of those above it as well.
    """
    found = [math.inf]
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            mounted = root / "sys/fs/cgroup"
        elif "cpu" in controllers.split(","):
            mounted = root / "sys/fs/cgroup" / controllers
        else:
            continue
        group = mounted / path.lstrip("/")
        for level in (group, *group.parents):
            limit, _, period = _read(level / "cpu.max").strip().partition(" ")
            found.append(_cores(limit, period))
            limit, period = (
                _read(level / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")
            )
            found.append(_cores(limit, period))
            if level == mounted:
                break
    return min(found)


def _cores(limit: str, period: str) -> float:
    # "max" in version 2 and -1 in version 1 mean no limit.
    return int(limit) / int(period) if limit.isdecimal() and period.isdecimal() else math.inf


def _cpu(root: Path) -> str:
    for line in _read(root / "proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        if key.strip().lower() in ("model name", "hardware"):
            return value.strip()
    return platform.processor() or platform.machine() or "unknown processor"


def _memory(root: Path) -> float:
    sizes = [math.inf]
    for line in _read(root / "proc/meminfo").splitlines():
        if line.startswith("MemTotal:"):
            sizes.append(int(line.split()[1]) * 1024.0)
    if sizes == [math.inf] and hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        sizes.append(float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")))
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        limit = _read(root / "sys/fs/cgroup" / name).strip()
        sizes.append(float(limit) if limit.isdecimal() else math.inf)
    # Where nothing says, a machine of the size that the arrays need at least.
    return min(sizes) if min(sizes) < math.inf else 4 * 2.0**30


def _caches(root: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    for index in sorted((root / "sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind = _read(index / "level").strip(), _read(index / "type").strip()
        size = _read(index / "size").strip()
        if kind != "Instruction" and size[:-1].isdecimal():
            name = f"L{level}" + ("d" if kind == "Data" else "")
            found[name] = int(size[:-1]) * {"K": 2.0**10, "M": 2.0**20}.get(size[-1], 1.0)
    return found


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
