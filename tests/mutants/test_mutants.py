"""Tests of the mutation tool: faults made and drawn, failing tests noticed."""

from __future__ import annotations

import functools
import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import choose
import javascript
import mutate
import playwright
import pytest
import runner
from choose import AREAS, Reviewed
from mutant import Mutant
from trial import Copy, Cost


@pytest.fixture(autouse=True, scope="module")
def _mutate_each_file_once() -> Iterator[None]:
    """Cache each file's mutants: a draw from an area needs those of all its files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mutate, "mutants", functools.cache(mutate.mutants))
        yield


def lines(source: str, path: str = "one.py") -> set[str]:
    """Return what the changed line becomes, for each fault that can be made."""
    found = mutate.mutants(path, source)
    return {one.shown(source)[1] for one in found if one.real(source)}


# Parses scripts without running them, and prints how many it could.
PARSE = """
import { readFileSync } from "node:fs";
import { SourceTextModule } from "node:vm";
const sources = JSON.parse(readFileSync(0, "utf-8"));
for (const source of sources) new SourceTextModule(source);
console.log(sources.length, "parsed");
"""


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
        ("def a():\n    return False", {"return True"}),
        # Docstrings, annotations, decorators, styles, timeouts and f-strings are not mutated.
        ('"""One sentence: 1 < 2."""', set()),
        ("a: Literal[1] = b", set()),
        ("def a(b: Literal[1]) -> Literal[2]: ...", set()),
        ("@a(1)\ndef b(): ...", set()),
        ("def __repr__(): return 1", set()),
        ("if TYPE_CHECKING:\n    a = 1", set()),
        ("__all__ = [1]", set()),
        ("WAIT_SECONDS = 1", set()),
        ("STEP_MS = 1", set()),
        ("BAR_INCHES, BAR_COLOR = 1, 1", set()),
        ("BAR_INCHES, BARS = 0, 0", {"BAR_INCHES, BARS = 1, 0", "BAR_INCHES, BARS = 0, 1"}),
        ("a = b(linewidth=1)", set()),
        ('a = {"dx": 1}', set()),
        ("a = f'{b + 1}'", set()),
    ],
)
def test_a_fault_replaces_one_syntax_node(source: str, broken: set[str]) -> None:
    assert lines(source) == broken


def test_a_fault_changes_one_value_of_a_catalog_entry() -> None:
    entry = 'ICI = { printed = 4.5e10, unit = "B/s", two_way = true, links = 6, read = 2026-11-21 }'
    assert lines(entry, "one.toml") == {
        entry.replace("4.5e10", "4.95e+10"),
        entry.replace("true", "false"),
        entry.replace("= 6", "= 7"),
    }
    assert lines("# printed = 4", "one.toml") == set()


@pytest.mark.parametrize(
    ("source", "broken"),
    [
        ("a = b < c;", {"a = b <= c;"}),
        ("a = b === c && d;", {"a = b !== c && d;", "a = b === c || d;"}),
        ("a = b + c / -d;", {"a = b - c / -d;", "a = b + c * -d;"}),
        ("a = b ?? c;", {"a = b && c;"}),
        (
            "a = 1, 7, 40, 0.5;",
            {f"a = {x};" for x in ("0, 7, 40, 0.5", "1, 8, 40, 0.5")}
            | {f"a = {x};" for x in ("1, 7, 80, 0.5", "1, 7, 40, 1.0")},
        ),
        ("a = 0x1f, 1n;", {"a = 62, 1n;", "a = 0x1f, 0n;"}),
        ("a = !b || true;", {"a = b || true;", "a = !b && true;", "a = !b || false;"}),
        ('a = "";', {'a = "x";'}),
        ("a = Math.min(b);", {"a = Math.max(b);"}),
        ("if (a(b)) c = d;", {"if (true) c = d;", "if (false) c = d;"}),
        ("if (a) b(c);", {"if (true) b(c);", "if (false) b(c);", "if (a) ;"}),
        ("const a = () => { return b; };", {"const a = () => { return undefined; };"}),
        ("await a(b);", {";"}),
        ("a.b = c;", {";"}),
        ("throw new A(b);", {";"}),
        # No faults in texts, regular expressions, comments, declarations and timers.
        ("const a = `${b + `${c}` + 1}` + `d`; // 1 < 2", set()),
        ("const a = /[/+]1/.test(b) ? /* 1 + */ c : d;", set()),
        ('import { a } from "./a.js";', set()),
        ("const WAIT_MS = 10;", set()),
        ("setTimeout(a, 10);", set()),
    ],
)
def test_a_fault_in_javascript_replaces_tokens(source: str, broken: set[str]) -> None:
    assert lines(source, "one.js") == broken


@pytest.mark.parametrize("path", choose.areas()["JavaScript"])
def test_tokens_comments_and_whitespace_make_up_each_script(path: str) -> None:
    source = choose.read(path)
    end = 0
    for token in javascript.tokens(source):
        gap = source[end : token.start]
        assert token.text == source[token.start : token.end]
        assert not gap.strip() or gap.lstrip().startswith(("//", "/*"))
        end = token.end
    assert not source[end:].strip() or source[end:].lstrip().startswith(("//", "/*"))


def test_faults_in_our_javascript_are_valid_code() -> None:
    """Parse the faults as a browser would.

    Any test would notice a fault that stopped the browser.
    """
    sources = [one.applied(choose.read(one.path)) for one in choose.drawn("JavaScript", 200, 1)]
    driver = Path(playwright.__file__).parent / "driver" / "node"
    done = subprocess.run(
        [driver, "--experimental-vm-modules", "--no-warnings", "--input-type=module", "-e", PARSE],
        input=json.dumps(sources),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["200", "parsed"]


# Areas tested by default, one per language: each draw is slow, as it makes all faults of its area.
SOME = ("checks", "catalog", "JavaScript")


@pytest.mark.parametrize(
    "area", [pytest.param(one, marks=[] if one in SOME else pytest.mark.long) for one in AREAS]
)
def test_the_same_seed_draws_the_same_faults(area: str) -> None:
    first, again, other = (choose.drawn(area, 20, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len({(one.path, one.line(choose.read(one.path))) for one in first}) == len(first) == 20
    for one in first:
        assert choose.area_of(one.path) == area
        assert one.real(choose.read(one.path))


def test_known_equivalents_are_not_drawn() -> None:
    (one,) = choose.drawn("checks", 1, 5)
    known = Reviewed(one.path, *one.shown(choose.read(one.path)), why="", equivalent=True)
    assert choose.drawn("checks", 1, 5, [known]) != [one]
    assert choose.drawn("checks", 1, 5, [replace(known, equivalent=False)]) == [one]
    assert not Mutant("one.py", 4, 5, "(b)", "").real("a = b")


def test_named_faults_apply_and_have_tests() -> None:
    for one in choose.named():
        source = choose.read(one.file)
        assert one.mutant(source).real(source), one
        assert choose.stages(one.file), one
        assert choose.area_of(one.file) in choose.AREAS, one
    with pytest.raises(ValueError, match="2 times «a», not once"):
        choose.Named("one.py", "a", "b", "").mutant("a = a")


def test_reviewed_survivors_are_still_in_the_code() -> None:
    assert choose.gone(choose.reviewed()) == []
    gone = Reviewed("rooflib/units.py", "no such line", "", "")
    assert choose.gone([gone]) == [gone]


def test_every_file_has_tests_or_a_reason_to_be_left_out() -> None:
    paths = [path for area in choose.areas().values() for path in area]
    assert set(runner.PROOFS) <= set(paths)
    for path in paths:
        tests = [word for stage in choose.stages(path) for word in stage]
        assert tests, path
        for test in tests:
            assert (choose.ROOT / test).exists() or not test.startswith("tests/"), f"{path}: {test}"
    every = subprocess.run(
        ["git", "ls-files", "rooflib", "kit", "grading", "site", "exercises"],
        cwd=choose.ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    code = {
        path
        for path in every
        if path.endswith((".py", ".js", ".cjs")) and (choose.ROOT / path).stat().st_size
    }
    assert code - set(paths) <= choose.NOT_TRIED.keys()


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Yield a `Copy` of a small repository that has one function and one test."""
    # Load only the plugins that pytest's options need, which takes a third of the time.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "_hypothesis_pytestplugin")
    (tmp_path / "one.py").write_text("def half(number):\n    return number / 2\n")
    (tmp_path / "test_one.py").write_text(
        "import one\n\ndef test_half(): assert one.half(6) == 3\n"
    )
    made = Copy(tmp_path)
    yield made
    made.remove()
    assert not made.folder.exists()


@pytest.mark.long
def test_an_injected_fault_fails_the_test_and_is_removed_again(copy: Copy) -> None:
    before = (copy.tree / "one.py").read_bytes()
    place = before.index(b"/")
    sound = copy.test(("test_one.py",))
    assert sound.passed
    assert sound.cost.cpu > 0
    times = set()
    for text in ("*", "*"):
        with copy.broken(Mutant("one.py", place, place + 1, text, "")):
            times.add((copy.tree / "one.py").stat().st_mtime)
            found = copy.test(("test_one.py",))
            assert not found.passed
            assert found.by == "test_one.py::test_half"
    assert len(times) == 2, "Python would load the old bytecode"
    assert (copy.tree / "one.py").read_bytes() == before
    assert copy.test(("test_one.py",)).passed


@pytest.mark.long
def test_an_endless_loop_is_killed(copy: Copy) -> None:
    start = (copy.tree / "one.py").read_text().index("return")
    endless = Mutant("one.py", start, start + len("return"), "while True:", "")
    with copy.broken(endless):
        found = copy.test(("test_one.py",), Cost(600, 3))
    assert not found.passed
    assert found.by == "the limit on CPU time"


@pytest.mark.long
def test_a_test_that_fails_without_a_fault_stops_the_run(copy: Copy) -> None:
    bench = runner.Bench([copy], [])
    test = "test_one.py::test_half"
    bench.check_without_fault(copy, ("test_one.py",), test)
    assert bench.passing == {test}
    (copy.tree / "test_one.py").write_text("def test_half(): assert False\n")
    with pytest.raises(runner.Stop, match=r"without any fault, test_one\.py fails already"):
        runner.Bench([copy], []).check_without_fault(copy, ("test_one.py",), test)


@pytest.mark.long
def test_a_test_that_fails_alone_is_checked_by_running_its_whole_stage(copy: Copy) -> None:
    text = "known = []\ndef test_a(): known.append(1)\ndef test_b(): assert known\n"
    (copy.tree / "test_one.py").write_text(text)
    bench = runner.Bench([copy], [])
    bench.check_without_fault(copy, ("test_one.py",), "test_one.py::test_b")
    assert bench.passing == {("test_one.py",)}


@pytest.mark.parametrize(
    ("killed", "reviewed", "unknown", "good"),
    [(95, 5, 0, True), (94, 6, 0, False), (99, 0, 1, False), (100, 0, 0, True)],
)
def test_at_most_5_percent_of_faults_may_survive_and_all_must_be_reviewed(
    killed: int, reviewed: int, unknown: int, good: bool
) -> None:
    dead = runner.Outcome("checks", "a.py", 1, "", "a", "b", False, "test", 1.0, 60.0)
    alive = replace(dead, by="")
    done = [dead] * killed + [replace(alive, reviewed="why")] * reviewed + [alive] * unknown
    text, verdict = runner.summary(done, [])
    assert verdict is good
    assert text.splitlines()[-3].split() == ["all", "100", str(killed), str(100 - killed)]
