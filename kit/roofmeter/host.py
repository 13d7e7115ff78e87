"""The measured host: its CPU, its memory, and the cores that it grants."""

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
    """A description of the host, without anything that identifies its owner.

    Attributes
    ----------
    cpu
        The model name that the processor reports.
    present, granted
        Cores of the machine, and cores that this process may use (affinity and CPU quota).
    memory
        Bytes of main memory, or the memory limit of the container if lower.
    system
        Kernel version and architecture.
    caches
        Bytes of each cache as the system reports them ("L1d", "L2", "L3"), per instance.
    """

    cpu: str
    present: int
    granted: int
    memory: float
    system: str
    caches: Mapping[str, float] = field(default_factory=dict)


def this_host(root: Path = ROOT) -> Host:
    """Describe this machine."""
    return Host(
        cpu=_cpu(root),
        present=_present(),
        granted=granted(root),
        memory=_memory(root),
        # Keep only the version numbers of the kernel release: its suffix may name who built it.
        system=f"{platform.system()} {_numbers(platform.release())}, {platform.machine()}",
        caches=_caches(root),
    )


def _present() -> int:
    return os.cpu_count() or 1


def _numbers(release: str) -> str:
    found = re.match(r"[\d.]*\d", release)
    return found[0] if found else "unknown"


def granted(root: Path = ROOT) -> int:
    """Return how many cores this process may use: its affinity, capped by its quota.

    Quotas are rounded down: at 1.5 cores, a second thread would be throttled now and then.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else _present()
    return max(1, int(min(cores, quota(root))))


def quota(root: Path = ROOT) -> float:
    """Return the CPU quota of this process in cores; infinite without one.

    The quota comes from the control groups: cpu.max ("Control Group v2" in the kernel's
    documentation) and cpu.cfs_quota_us ("CFS Bandwidth Control"). The limits of parent groups apply
    as well.
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
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", ()):
        sizes.append(float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")))
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        limit = _read(root / "sys/fs/cgroup" / name).strip()
        sizes.append(float(limit) if limit.isdecimal() else math.inf)
    # If no source states the memory, assume 4 GiB.
    return min(sizes) if min(sizes) < math.inf else 4 * 2.0**30


def _caches(root: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    for index in sorted((root / "sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind = _read(index / "level").strip(), _read(index / "type").strip()
        size = _read(index / "size").strip().removesuffix("K")  # Linux shows KiB
        if kind != "Instruction" and size.isdecimal():
            name = f"L{level}" + ("d" if kind == "Data" else "")
            found[name] = int(size) * 1024.0
    return found


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
