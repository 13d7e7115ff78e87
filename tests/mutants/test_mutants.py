"""The tool that breaks the code: its faults are faults, drawn alike, and noticed or not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import choose
import mutate
import pytest
import runner
import trial
from choose import ROOMS, Reviewed
from mutate import Mutant
from trial import Copy, Cost


def lines(source: str, path: str = "one.py") -> set[str]:
    """What the changed line may become, for each fault that is one."""
    found = mutate.mutants(path, source)
    return {one.shown(source)[1] for one in found if one.real(source)}


@pytest.mark.parametrize(
    ("source", "broken"),
    [
        ("a = b < c", {"a = b <= c"}),
        ("a = b not in c", {"a = b in c"}),
        ("a = (b) + c", {"a = (b) - c"}),
        ("a += b", {"a -= b", "pass"}),
        ("a = b and c and d", {"a = b or c and d", "a = b and c or d"}),
        ("a = not (b or c)", {"a = (b or c)", "a = not (b and c)"}),
        ("a = 0, 1, 7", {"a = 1, 1, 7", "a = 0, 0, 7", "a = 0, 1, 8"}),
        ("a = 1000", {"a = 2000"}),
        ("a = 0.5, True", {"a = 1.0, True", "a = 0.5, False"}),
        ("a = ''", {'a = "x"'}),
        ("a = 'µ' if b else c", {"a = 'µ' if True else c", "a = 'µ' if False else c"}),
        ("a = [b for b in c if d]", {"a = [b for b in c if True]"}),
        ("a.b = c", {"pass"}),
        ("a(b)", {"pass"}),
        ("a = b(c, d)", {"a = b(d, c)"}),
        ("a = b(c, d=e)", {"a = b(c)"}),
        ("a = b(d=e, f=g)", {"a = b(f=g)", "a = b(d=e)"}),
        ("a = max(b)", {"a = min(b)"}),
        ("raise a(b + c)", {"pass"}),
        ("def a():\n    return b", {"return None"}),
        # What looks, waits or says is left alone.
        ('"""One sentence: 1 < 2."""', set()),
        ("a: Literal[1] = b", set()),
        ("def a(b: Literal[1]) -> Literal[2]: ...", set()),
        ("@a(1)\ndef b(): ...", set()),
        ("def __repr__(): return 1", set()),
        ("if TYPE_CHECKING:\n    a = 1", set()),
        ("__all__ = [1]", set()),
        ("WAIT_SECONDS = 1", set()),
        ("a = b(linewidth=1)", set()),
        ("a = f'{b + 1}'", set()),
    ],
)
def test_a_fault_replaces_one_node(source: str, broken: set[str]) -> None:
    assert lines(source) == broken


def test_figures_of_the_catalogue_are_changed() -> None:
    entry = 'ICI = { printed = 4.5e10, unit = "B/s", two_way = true, links = 6, read = 2026-11-21 }'
    assert lines(entry, "one.toml") == {
        entry.replace("4.5e10", "4.95e+10"),
        entry.replace("true", "false"),
        entry.replace("= 6", "= 7"),
    }
    assert lines("# printed = 4", "one.toml") == set()


@pytest.mark.parametrize("room", ROOMS)
def test_what_is_drawn_is_a_fault_and_the_same_for_the_same_seed(room: str) -> None:
    first, again, other = (choose.drawn(room, 20, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len({(one.path, one.line(choose.read(one.path))) for one in first}) == len(first) == 20
    for one in first:
        assert choose.room_of(one.path) == room
        assert one.real(choose.read(one.path))


def test_a_change_that_changes_nothing_is_not_drawn() -> None:
    (one,) = choose.drawn("check", 1, 5)
    known = Reviewed(one.path, *one.shown(choose.read(one.path)), why="", equivalent=True)
    assert choose.drawn("check", 1, 5, [known]) != [one]
    assert choose.drawn("check", 1, 5, [replace(known, equivalent=False)]) == [one]
    assert not Mutant("one.py", 4, 5, "(b)", "").real("a = b")


def test_named_faults_are_in_the_code_and_have_tests() -> None:
    for one in choose.named():
        source = choose.read(one.file)
        assert one.mutant(source).real(source), one
        assert choose.stages(one.file), one
    with pytest.raises(ValueError, match="2 times «a», not once"):
        choose.Named("one.py", "a", "b", "").mutant("a = a")


def test_reviewed_survivors_are_still_in_the_code() -> None:
    assert choose.gone(choose.reviewed()) == []
    gone = Reviewed("rooflib/units.py", "no such line", "", "")
    assert choose.gone([gone]) == [gone]


def test_every_file_that_is_tried_has_tests_and_only_named_ones_are_left_out() -> None:
    every = {path for room in ROOMS for path in choose.files(room)}
    assert all(choose.stages(path) for path in every)
    for start in ("rooflib", "kit/roofkit/check", "grading"):
        found = choose.ROOT.glob(f"{start}/**/*.py")
        paths = {path.relative_to(choose.ROOT).as_posix() for path in found}
        assert paths - every <= choose.NOT_TRIED.keys()


@pytest.fixture
def copy(tmp_path: Path):
    """A copy of a repository with one function and one test."""
    (tmp_path / "one.py").write_text("def half(number):\n    return number / 2\n")
    (tmp_path / "test_one.py").write_text(
        "import one\n\ndef test_half(): assert one.half(6) == 3\n"
    )
    made = Copy(tmp_path)
    yield made
    made.remove()
    assert not made.folder.exists()


def test_a_fault_is_noticed_and_taken_out_again(copy: Copy) -> None:
    before = (copy.tree / "one.py").read_bytes()
    place = before.index(b"/")
    sound = copy.test(("test_one.py",))
    assert sound.passed
    assert sound.cost.cpu > 0
    times = set()
    for text in ("*", "*"):
        with copy.broken(Mutant("one.py", place, place + 1, text, "")):
            times.add((copy.tree / "one.py").stat().st_mtime)
            found = copy.test(("test_one.py",), sound.cost)
            assert not found.passed
            assert found.by == "test_one.py::test_half"
    assert len(times) == 2, "Python would take the bytecode of the one before"
    assert (copy.tree / "one.py").read_bytes() == before
    assert copy.test(("test_one.py",), sound.cost).passed


def test_a_fault_that_never_ends_is_ended(copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "LEAST", Cost(600, 5))
    start = (copy.tree / "one.py").read_text().index("return")
    endless = Mutant("one.py", start, start + len("return"), "while True:", "")
    with copy.broken(endless):
        found = copy.test(("test_one.py",), Cost(0, 0))
    assert not found.passed
    assert found.by == "the limit of computing"


@pytest.mark.parametrize(
    ("killed", "reviewed", "unknown", "good"),
    [(95, 5, 0, True), (94, 6, 0, False), (99, 0, 1, False), (100, 0, 0, True)],
)
def test_at_most_one_in_twenty_may_survive_and_none_unknown(
    killed: int, reviewed: int, unknown: int, good: bool
) -> None:
    dead = runner.Outcome("check", "a.py", 1, "", "a", "b", False, "test", 1.0)
    alive = replace(dead, by="")
    done = [dead] * killed + [replace(alive, reviewed="why")] * reviewed + [alive] * unknown
    text, verdict = runner.summary(done, [])
    assert verdict is good
    assert text.splitlines()[-2].split() == ["all", "100", str(killed), str(100 - killed)]
