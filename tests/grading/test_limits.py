"""Tests of resource limits for the grader's own processes."""

import ctypes
import json
import os
import re
import resource
import signal
import sys
import time
from pathlib import Path

import pytest

from grading import limits
from grading.limits import Overrun, run_limited

# A regular expression with exponential backtracking: matching never ends.
ENDLESS = ("(a+)+$", "a" * 80 + "b")


def test_results_round_trip_through_json():
    value = {"a": [1, 2.5, "é\ud800", None, True], "b": {"c": "x" * 300_000}}
    assert run_limited(lambda: value) == json.loads(json.dumps(value))


def test_the_function_runs_in_a_child_that_is_reaped():
    seen = []
    child = run_limited(lambda: seen.append(1) or os.getpid())
    assert child != os.getpid()
    assert seen == []
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_the_child_asks_linux_to_kill_it_when_its_parent_ends():
    def signal_at_the_parents_end():
        found, get_death_signal = ctypes.c_int(), 2
        ctypes.CDLL(None).prctl(get_death_signal, ctypes.byref(found), 0, 0, 0)
        return found.value

    assert run_limited(signal_at_the_parents_end) == signal.SIGKILL


def test_die_with_parent_does_nothing_on_other_systems_than_linux(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: pytest.fail("it has no prctl"))
    limits.die_with_parent()


def test_a_child_whose_parent_has_ended_returns_no_result(monkeypatch):
    """Simulate a parent that ends after the fork, before its child asks for a signal."""
    monkeypatch.setattr(os, "getppid", lambda: 1)
    with pytest.raises(Overrun):
        run_limited(lambda: 1)


def test_an_error_of_the_function_is_raised():
    with pytest.raises(RuntimeError, match="ZeroDivisionError: division"):
        run_limited(lambda: 1 / 0)


@pytest.mark.parametrize(
    "function",
    [
        lambda: re.match(*ENDLESS),
        lambda: bytearray(1 << 30),
        lambda: [[]] * (1 << 27),
        lambda: os._exit(3),
        lambda: os.kill(os.getpid(), signal.SIGKILL),
        lambda: print("x", end="", flush=True) or os._exit(0),
    ],
    ids=["computing", "memory", "memory of small things", "exit", "killed", "silence"],
)
def test_children_over_a_limit_or_without_a_result_raise_overrun(function):
    with pytest.raises(Overrun):
        run_limited(function, cpu=0.2, more_bytes=200_000_000)


def test_wall_time_is_limited():
    with pytest.raises(Overrun):
        run_limited(lambda: time.sleep(600), wall=0.2)


def test_the_limits_apply_to_the_child_only():
    before = [resource.getrlimit(kind) for kind in (resource.RLIMIT_CPU, resource.RLIMIT_DATA)]
    assert run_limited(lambda: 1) == 1
    after = [resource.getrlimit(kind) for kind in (resource.RLIMIT_CPU, resource.RLIMIT_DATA)]
    assert after == before


def test_run_limited_leaves_no_file_descriptor_open():
    before = list(Path("/proc/self/fd").iterdir())
    run_limited(lambda: 1)
    assert list(Path("/proc/self/fd").iterdir()) == before


def test_a_child_does_not_ignore_sigxcpu_though_its_parent_does():
    before = signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    try:
        assert run_limited(lambda: signal.getsignal(signal.SIGXCPU)) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGXCPU, before)


ENDLESSLY = resource.RLIM_INFINITY
STATUS = "VmPeak:\t   9000 kB\nVmData:\t   1000 kB\nVmStk:\t     16 kB\n"
CPU, DATA = resource.RLIMIT_CPU, resource.RLIMIT_DATA


@pytest.mark.parametrize(
    ("hard", "cpu", "data"),
    [(ENDLESSLY, 9, 1_024_500), (10**9, 9, 1_024_500), (7, 7, 7)],
)
def test_new_limits_are_added_to_the_cpu_time_and_memory_already_used(
    tmp_path, monkeypatch, hard, cpu, data
):
    """Check with 3.4 s and 1000 kB used; a limit of CPU time is a whole number of seconds."""
    made = {}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (5, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda kind, both: made.update({kind: both}))
    monkeypatch.setattr(time, "process_time", lambda: 3.4)
    monkeypatch.setattr(limits, "STATUS", tmp_path / "status")
    limits.limit_next(5, 500)
    assert made == {CPU: (cpu, hard)}, "the memory in use is unknown"
    (tmp_path / "status").write_text(STATUS)
    limits.limit_next(5, 500)
    assert made == {CPU: (cpu, hard), DATA: (data, hard)}
