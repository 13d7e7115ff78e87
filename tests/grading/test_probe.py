"""Tests of the code in a notebook's process that answers the grader's questions."""

import gc
import os
import resource
import signal
import warnings
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from pathlib import Path
from types import SimpleNamespace

import pytest

from grading.execution import probe
from grading.limits import run_limited

QUESTION = {"cases": ["{}"], "more": 0, "cpu_seconds": 5, "wall_seconds": 10, "again": True}
MOST = 5 * 3 + 1  # CPU limit in seconds for QUESTION, in a process that has used none yet


class Left(Exception):
    """Raised instead of ending the process."""


def exit_status(code):
    return code << 8


@pytest.mark.parametrize(
    ("status", "user", "system", "starved", "how"),
    [
        (exit_status(0), 99, 0, 99, ""),
        (exit_status(1), 99, 0, 99, ""),
        (signal.SIGPROF, 0, 0, 0, "cpu"),
        (signal.SIGKILL, MOST / 4, MOST / 4, 0, ""),
        (signal.SIGKILL, MOST / 4 + 0.1, MOST / 4, 0, "cpu"),
        (signal.SIGKILL, 0.1, MOST / 2, 0, "cpu"),
        (signal.SIGTERM, MOST, 0, 0, ""),
        (signal.SIGALRM, MOST, 0, 5, "wall"),
        (signal.SIGALRM, 0, 0, 5.1, "starved"),
    ],
)
def test_how_a_fork_ended_is_known_from_its_signal_and_times(
    monkeypatch, status, user, system, starved, how
):
    """Linux sends SIGKILL at the hard CPU time limit, but others may send it, too."""
    used = SimpleNamespace(ru_utime=user, ru_stime=system)
    monkeypatch.setattr(probe.time, "process_time", lambda: 0.0)
    monkeypatch.setattr(probe, "_fork", lambda: 123)
    monkeypatch.setattr(os, "waitid", lambda *_: None)
    monkeypatch.setattr(probe, "_starved_seconds", lambda child: starved)
    monkeypatch.setattr(os, "wait4", lambda child, options: (child, int(status), used))
    assert probe._asked_in_fork(QUESTION, None, {}, None) == how


def test_the_forked_copy_itself_answers_if_it_cannot_fork_again(monkeypatch):
    asked = []

    def full():
        raise BlockingIOError

    def leave(status):
        raise Left

    monkeypatch.setattr(probe, "_fork", full)
    monkeypatch.setattr(probe, "_asked", lambda *words: asked.append(words[0]))
    monkeypatch.setattr(os, "_exit", leave)
    with pytest.raises(Left):
        probe._asked_in_fork(QUESTION, None, {}, None)
    assert asked == [QUESTION]


def test_a_notebook_keeps_no_file_descriptor_of_its_forked_copies(monkeypatch):
    monkeypatch.setattr(probe, "_fork", lambda: 123)
    before = list(Path("/proc/self/fd").iterdir())
    probe.snapshot("part", {}, "/nowhere")
    assert list(Path("/proc/self/fd").iterdir()) == before


INFINITE = resource.RLIM_INFINITY


@pytest.mark.parametrize(("hard", "most"), [(INFINITE, 20), (100, 20), (7, 7)])
def test_the_limit_on_cpu_time_cannot_be_raised_again(monkeypatch, hard, most):
    made = []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (hard, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda *words: made.append(words))
    probe._limit_cpu(20)
    assert made == [(resource.RLIMIT_CPU, (most, most))]


TIMERS = signal.ITIMER_PROF, signal.ITIMER_REAL
SIGNALS = signal.SIGPROF, signal.SIGALRM


def test_both_timers_run_during_a_call_and_not_after_it():
    """Their signals end the process, even if the notebook has changed the handlers."""

    def during():
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        with probe._ending_after(50, 70):
            inside = [signal.getitimer(timer)[0] for timer in TIMERS]
            handlers = [signal.getsignal(number) == signal.SIG_DFL for number in SIGNALS]
            blocked = [*signal.pthread_sigmask(signal.SIG_BLOCK, []) & {*SIGNALS}]
        return inside, handlers, blocked, [signal.getitimer(timer)[0] for timer in TIMERS]

    (cpu, wall), handlers, blocked, after = run_limited(during)
    assert 40 < cpu < 51
    assert 60 < wall < 71
    assert (handlers, blocked, after) == ([True, True], [], [0, 0])


@pytest.mark.parametrize("new", [ThreadPoolExecutor, ThreadPool])
def test_thread_pools_work_in_a_forked_copy(new):
    """A fork has only one thread; a pool that waits for the others would hang."""
    with new(2) as pool, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        assert list(pool.map(abs, [-1, -2])) == [1, 2]

        def in_copy():
            probe._restart_pools()
            gc.collect()
            return list(pool.map(abs, [-3, -4])), getattr(pool, "_max_workers", 2)

        assert run_limited(in_copy, wall=20) == [[3, 4], 2]


def answers(function, cases, again=False):
    question = QUESTION | {"function": "f", "kind": "number", "again": again}
    question["cases"] = [repr({"case": case}) for case in cases]
    return run_limited(lambda: list(probe._answers(question, {"f": function})))


def test_each_case_has_an_answer_and_the_first_may_be_repeated():
    right = [{"value": number, "problem": ""} for number in (1, 2)]
    assert answers(lambda case: case, [1, 2]) == right
    *first, last = answers(lambda case: case, [1, 2], again=True)
    assert (first, last["problem"]) == (right, "")


def test_no_other_case_is_answered_after_a_problem_with_the_first():
    assert [one["problem"] for one in answers(lambda case: 1 / case, [0, 1])] == ["raised"]
    assert [one["problem"] for one in answers(lambda case: 1 / case, [1, 0, 2])] == [
        "",
        "raised",
        "",
    ]
    (missing,) = answers(None, [1, 2])
    assert missing["problem"] == "not-a-function"
