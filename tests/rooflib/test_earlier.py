"""A run that was slow from beginning to end is told by the gauges of an earlier one."""

import datetime
import json

import pytest
from made_up_machine import HOST, Machine, Weather

import rooflib as rl
from rooflib.measuring import earlier, protocol, watch
from rooflib.measuring.store import load_run

TODAY = datetime.date(2026, 1, 2)


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(watch.time, "sleep", lambda seconds: None)
    return tmp_path


def gauged(slower: float) -> rl.Run:
    machine = Machine(lambda stretch: Weather(slower=slower))
    return machine.run(gauges=machine.gauges())


def test_a_run_keeps_seconds_of_a_pass_however_many_passes_there_were():
    assert gauged(1.0).paces == pytest.approx({"cores": 0.01, "memory": 0.02})
    assert gauged(0.1).paces == pytest.approx({"cores": 0.001, "memory": 0.002})


def test_a_slow_run_reaches_to_what_the_machine_has_shown():
    known = gauged(1.0).paces
    slow = gauged(1.25)
    assert slow.warnings == []
    found = earlier.beside(slow, known)
    # 100 GFLOP/s, of which 80 were measured; a call takes 1 microsecond, and took 1.25.
    assert found.figures["peak fp32"].best == pytest.approx(8e10)
    assert found.figures["peak fp32"].interval == pytest.approx((8e10, 1e11))
    assert found.figures["call"].interval == pytest.approx((1e-6, 1.25e-6))
    assert found.figures["read"].spread == pytest.approx(0.25)
    (warning,) = found.warnings
    assert warning.startswith("the machine ran at 80% of the pace of an earlier run")


def test_the_slower_of_the_gauges_decides_where_both_tell():
    known = {"cores": 0.01, "memory": 0.01}
    assert earlier.beside(gauged(1.0), known).figures["read"].slowed == pytest.approx(0.5)
    known = {"cores": 0.005, "memory": 0.02}
    assert earlier.beside(gauged(1.0), known).figures["read"].slowed == pytest.approx(0.5)


def test_a_slow_memory_widens_no_figure_that_stays_in_the_caches():
    found = earlier.beside(gauged(1.0), {"cores": 0.01, "memory": 0.01}).figures
    assert [found[key].slowed for key in ("peak fp32", "call")] == [0, 0]
    found = earlier.beside(gauged(1.0), {"cores": 0.008, "memory": 0.01}).figures
    assert found["peak fp32"].slowed == pytest.approx(0.2)


@pytest.mark.parametrize("known", [{}, {"cores": 0.02, "memory": 0.03}, {"cores": 0.0096}])
def test_without_an_earlier_one_or_beside_a_slower_one_a_run_stays_as_it_is(known):
    run = gauged(1.0)
    assert earlier.beside(run, known) is run


def test_what_is_kept_is_the_fastest_of_a_month_of_this_machine(cache):
    earlier.keep(HOST, {"cores": 0.01, "memory": 0.02}, TODAY)
    later = TODAY + datetime.timedelta(days=20)
    earlier.keep(HOST, {"cores": 0.02, "memory": 0.01}, later)
    assert earlier.fastest(HOST, later) == {"cores": 0.01, "memory": 0.01}
    assert earlier.fastest(HOST, TODAY + datetime.timedelta(days=31)) == {"memory": 0.01}
    other = type(HOST)("Another CPU", 4, 2, 8e9)
    assert earlier.fastest(other, later) == {}
    fewer = type(HOST)(HOST.cpu, 4, 1, 8e9)
    assert earlier.fastest(fewer, later) == {}


DAMAGED = ["", "[]", '{"a": 1}', '{"a": {"cores": [0.1]}}', '{"a": {"cores": ["x", "2026-01-01"]}}']


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_file_is_as_none(cache, text):
    earlier.file().parent.mkdir()
    earlier.file().write_text(text)
    assert earlier.fastest(HOST, TODAY) == {}
    earlier.keep(HOST, {"cores": 0.01}, TODAY)
    assert earlier.fastest(HOST, TODAY) == {"cores": 0.01}


def test_a_home_that_cannot_be_written_to_is_no_error(cache):
    (cache / "rooflib").write_text("a file in its place")
    earlier.keep(HOST, {"cores": 0.01}, TODAY)
    assert earlier.fastest(HOST, TODAY) == {}


def test_it_is_kept_in_files_and_the_runs_too(cache):
    run = earlier.beside(gauged(1.25), gauged(1.0).paces)
    run.save(cache / "saved")
    again = load_run(cache / "saved")
    assert again.paces == pytest.approx(run.paces)
    assert again.figures["update"].interval == pytest.approx(run.figures["update"].interval)


def test_each_measurement_keeps_its_paces_and_is_held_against_those_before(monkeypatch):
    given = iter([gauged(1.0), gauged(1.25), gauged(1.25)])
    monkeypatch.setattr(protocol, "take", lambda *words, **more: next(given))
    monkeypatch.setattr(protocol, "this_host", lambda: HOST)
    monkeypatch.setattr(protocol, "available_memory", lambda most: 2.0**24)
    slowed = [rl.measure(progress=False).figures["read"].slowed for _ in range(3)]
    assert slowed == pytest.approx([0, 0.2, 0.2])
    (known,) = json.loads(earlier.file().read_text()).values()
    assert known["cores"] == [pytest.approx(0.01), "2026-01-02"]


@pytest.mark.parametrize("slowed", [-0.1, 1.0])
def test_a_share_that_is_none_is_refused(slowed):
    with pytest.raises(ValueError, match="slowed must be 0 or more and less than 1"):
        earlier.replace(gauged(1.0).figures["read"], slowed=slowed)
