"""Tests of host detection and clocks, on fake /proc and /sys trees."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from roofmeter import clocks, host

QUOTAS = {
    "none": ({}, "0::/\n", 99),
    "no limit": ({"sys/fs/cgroup/a/cpu.max": "max 100000"}, "0::/a\n", 99),
    "its own": ({"sys/fs/cgroup/a/cpu.max": "150000 100000"}, "0::/a\n", 1.5),
    "of the group above": (
        {"sys/fs/cgroup/a/b/cpu.max": "400000 100000", "sys/fs/cgroup/a/cpu.max": "200000 100000"},
        "0::/a/b\n",
        2,
    ),
    "of a group with a colon": ({"sys/fs/cgroup/a:b/cpu.max": "200000 100000"}, "0::/a:b\n", 2),
    "of the whole container": ({"sys/fs/cgroup/cpu.max": "300000 100000"}, "0::/\n", 3),
    "version 1": (
        {
            "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "250000",
            "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000",
        },
        "4:memory:/x\n2:cpu,cpuacct:/a\n",
        2.5,
    ),
    "version 1, no limit": (
        {
            "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000",
        },
        "2:cpu:/a\n",
        99,
    ),
    "above all groups": ({"sys/fs/cpu.max": "100000 100000"}, "0::/a\n", 99),
    "another controller's": ({"sys/fs/cgroup/cpuset/cpu.max": "1 100000"}, "2:cpuset:/\n", 99),
}


def system(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}\n")
    return root


@pytest.mark.parametrize("name", QUOTAS)
def test_the_smallest_cpu_quota_of_the_cgroup_and_its_parents_applies(tmp_path, monkeypatch, name):
    files, groups, cores = QUOTAS[name]
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(99)), raising=False)
    root = system(tmp_path, {**files, "proc/self/cgroup": groups.rstrip()})
    assert min(host.quota(root), 99) == cores
    assert host.granted(root) == int(cores)


def test_granted_cores_are_limited_by_affinity_and_at_least_one(tmp_path, monkeypatch):
    # In system calls, process 0 is the calling process.
    monkeypatch.setattr(os, "sched_getaffinity", {0: {3, 5}}.get, raising=False)
    assert host.granted(tmp_path) == 2
    files = {"sys/fs/cgroup/cpu.max": "50000 100000", "proc/self/cgroup": "0::/"}
    assert host.granted(system(tmp_path, files)) == 1


def test_granted_cores_are_at_most_the_cores_that_psutil_finds():
    assert 1 <= host.granted() <= len(psutil.Process().cpu_affinity())


def test_the_host_is_described_from_proc_and_sys(tmp_path):
    caches = "sys/devices/system/cpu/cpu0/cache/index"
    described = {
        "proc/cpuinfo": "processor\t: 0\nmodel name\t: Made-up CPU @ 2 GHz",
        "proc/meminfo": "MemTotal:       1000 kB\nMemFree: 3 kB",
        f"{caches}0/level": "1",
        f"{caches}0/type": "Data",
        f"{caches}0/size": "48K",
        f"{caches}1/level": "1",
        f"{caches}1/type": "Instruction",
        f"{caches}1/size": "32K",
        f"{caches}2/level": "3",
        f"{caches}2/type": "Unified",
        f"{caches}2/size": "30720K",
    }
    found = host.this_host(system(tmp_path, described))
    assert found.cpu == "Made-up CPU @ 2 GHz"
    assert found.memory == 1000 * 1024
    assert found.present == os.cpu_count()
    assert found.caches == {"L1d": 48 * 1024, "L3": 30 * 2**20}


@pytest.mark.parametrize(
    ("release", "shown"),
    [("6.8.0-49-generic", "6.8.0"), ("10.0.26100", "10.0.26100"), ("13", "13"), ("", "unknown")],
)
def test_only_the_version_numbers_of_the_os_release_are_kept(monkeypatch, tmp_path, release, shown):
    monkeypatch.setattr(host.platform, "release", lambda: release)
    assert host.this_host(tmp_path).system.split(" ")[1] == f"{shown},"


@pytest.mark.parametrize("counted", [6, None])
def test_without_affinity_all_cores_are_granted(tmp_path, monkeypatch, counted):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: counted)
    found = host.this_host(tmp_path)
    assert (found.present, found.granted) == (counted or 1,) * 2


@pytest.mark.parametrize(
    ("processor", "machine", "shown"),
    [("Made-up", "x86", "Made-up"), ("", "arm64", "arm64"), ("", "", "unknown processor")],
)
def test_without_proc_python_names_the_processor(tmp_path, monkeypatch, processor, machine, shown):
    monkeypatch.setattr(host.platform, "processor", lambda: processor)
    monkeypatch.setattr(host.platform, "machine", lambda: machine)
    found = host.this_host(tmp_path)
    assert found.cpu == shown
    assert found.caches == {}


def test_without_proc_memory_comes_from_sysconf_or_is_assumed_to_be_4_gib(tmp_path, monkeypatch):
    pages = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", pages.get, raising=False)
    assert host.this_host(tmp_path).memory == 4096000
    monkeypatch.setattr(os, "sysconf_names", {}, raising=False)
    assert host.this_host(tmp_path).memory == 4 * 1024**3


def test_busy_time_without_proc_comes_from_psutil(tmp_path, monkeypatch):
    before = psutil.cpu_times()
    found, stolen = clocks._machine(tmp_path)
    after = psutil.cpu_times()
    low, high = (t.user + t.nice + t.system for t in (before, after))
    assert low - 1e-6 <= found <= high + 1e-6
    assert stolen is None


def test_busy_time_is_known_where_psutil_has_no_nice_time(tmp_path, monkeypatch):
    times = SimpleNamespace(user=1.5, system=2.0, idle=40.0)  # as on Windows
    monkeypatch.setitem(sys.modules, "psutil", SimpleNamespace(cpu_times=lambda: times))
    assert clocks._machine(tmp_path) == (3.5, None)


def test_idle_time_and_waiting_for_disks_are_not_busy(tmp_path, monkeypatch):
    # fields: user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice
    system(tmp_path, {"stat": "cpu  1 20 300 4000 50000 600000 7000000 80000000 9 9\ncpu0 1"})
    monkeypatch.setattr(os, "sysconf", {"SC_CLK_TCK": 100}.__getitem__)
    assert clocks._machine(tmp_path) == (7600321 / 100, 800000)


def test_memory_is_capped_by_the_container_limit(tmp_path):
    files = {"proc/meminfo": "MemTotal: 1000 kB", "sys/fs/cgroup/memory.max": "5000"}
    assert host.this_host(system(tmp_path, files)).memory == 5000
    older = {"sys/fs/cgroup/memory/memory.limit_in_bytes": "4000"}
    assert host.this_host(system(tmp_path, older)).memory == 4000


def test_busy_and_steal_time_agree_with_psutil():
    def busy() -> tuple[float, float]:
        now = psutil.cpu_times()
        return now.user + now.nice + now.system + now.irq + now.softirq, now.steal

    before, now, after = busy(), clocks.read_clocks(), busy()
    assert before[0] <= now.busy + 1e-6
    assert now.busy <= after[0] + 1e-6
    assert before[1] <= now.stolen + 1e-6
    assert now.stolen <= after[1] + 1e-6


def test_run_queue_wait_is_summed_over_threads(tmp_path):
    system(tmp_path, {"self/task/1/schedstat": "7 1500000000 3", "self/task/2/schedstat": "7 5 3"})
    (tmp_path / "self/task/3").mkdir()  # a thread that has ended
    assert clocks._waited(tmp_path) == pytest.approx(1.500000005, rel=1e-12)


@pytest.mark.parametrize("text", ["", "7", "a b c"])
def test_unreadable_counters_are_none(tmp_path, monkeypatch, text):
    monkeypatch.setitem(sys.modules, "psutil", None)
    system(tmp_path, {"self/task/1/schedstat": text, "stat": f"cpu {text}"})
    assert clocks._waited(tmp_path) is None
    assert clocks._machine(tmp_path) == (None, None)
    assert clocks._waited(tmp_path / "none") is None
    assert clocks._machine(tmp_path / "none") == (None, None)
