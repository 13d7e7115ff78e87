"""Time limits of calls: they stop any code, in any thread."""

import re
import signal
import threading
import time
from contextlib import suppress

import pytest
from repository import ROOT

from grading.execution.time_limits import TIME_LIMITS
from roofkit.check import CheckInterrupted, call_limit, cases, check
from roofkit.check.answers import TooLate, ask
from roofkit.check.call_limit import limited
from roofkit.check.packing import literal, pack

SHORT = 0.1  # seconds


def compute():
    while True:
        pass


def swallow():
    while True:
        with suppress(Exception):
            compute()


def go_on():
    try:
        compute()
    except BaseException:
        return 7


def fail_instead():
    try:
        compute()
    except BaseException:
        raise ValueError("mine") from None


@pytest.fixture(params=["signals", "no signals"])
def way(request, monkeypatch):
    if request.param == "no signals":
        monkeypatch.delattr(signal, "setitimer")
    return request.param


@pytest.mark.parametrize("work", [compute, swallow, go_on, fail_instead])
@pytest.mark.parametrize("limits", [(SHORT, 60), (60, SHORT)], ids=["computing", "clock"])
def test_timeouts_stop_calls_that_catch_all_exceptions(work, limits, way):
    answer = ask(lambda: work(), {}, "number", lambda: limited(*limits))
    assert answer.problem == "too-late"
    sum(range(10_000))  # a pending exception would be raised here


def test_the_wall_clock_limit_stops_a_waiting_call():
    with pytest.raises(TooLate), limited(60, SHORT):
        threading.Event().wait(60)


def test_calls_in_other_threads_are_stopped():
    said = []

    def elsewhere():
        said.append(ask(lambda: compute(), {}, "number", lambda: limited(SHORT, 60)).problem)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(60)
    assert said == ["too-late"]


def test_a_signal_that_arrives_after_the_call_is_ignored():
    with limited(60, 60):
        late = signal.getsignal(signal.SIGALRM)
    late(signal.SIGALRM, None)


def test_signal_handler_and_timers_are_restored_after_a_call(way):
    mine = lambda number, frame: None  # noqa: E731
    before = signal.signal(signal.SIGALRM, mine)
    try:
        with limited(60, 60):
            pass
        assert signal.getsignal(signal.SIGALRM) is mine
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
        assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_errors_and_interrupts_of_the_call_propagate(way):
    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error), limited(60, 60):
            raise error


def test_calls_have_no_limit_without_signals_and_threads(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.delattr(signal, "setitimer")
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with limited(SHORT, SHORT):
        value = 3
    assert value == 3


def test_learners_get_the_time_limits_of_grading():
    assert TIME_LIMITS.call == call_limit.CALL_SECONDS
    assert TIME_LIMITS.call_wall == call_limit.CALL_WALL_SECONDS
    script = (ROOT / "site/browser/python/exercise_python.js").read_text(encoding="utf-8")
    assert re.findall(r"CELL_SECONDS = (\d+);", script) == [f"{TIME_LIMITS.cell_wall:g}"]


DATA = {
    "function": "area",
    "kind": "number",
    "tolerance": 1e-5,
    "cases": literal([{"B": 2}, {"B": 3}]),
    "expected": [2, 3],
    "misconceptions": [],
    "ranges": {},
}


def test_the_check_reports_a_timeout_with_its_limits(monkeypatch):
    calls = []

    def area(B):
        calls.append(B)
        compute()

    monkeypatch.setattr("roofkit.check.limited", lambda: limited(SHORT, 60))
    cases(pack({"area": DATA}))
    with pytest.raises(Exception, match="did not come back in time") as failure:
        check("area", area)
    said = " ".join(str(failure.value).split())
    assert "It was stopped: a call gets 5 s of computing and 30 s in all, in grading too." in said
    assert calls == [2]


def test_an_interrupt_is_shown_in_one_line_and_stays_a_keyboard_interrupt():
    def area(B):
        raise KeyboardInterrupt

    cases(pack({"area": DATA}))
    with pytest.raises(KeyboardInterrupt) as stopped:
        check("area", area)
    assert isinstance(stopped.value, CheckInterrupted)
    assert stopped.value._render_traceback_() == ["area: the check was interrupted."]


def test_cpu_time_before_a_call_does_not_count_toward_its_limit(way):
    end = time.process_time() + 3 * SHORT
    while time.process_time() < end:
        pass
    with limited(SHORT, 60):
        value = 3
    assert value == 3
