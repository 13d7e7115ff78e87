"""Tests that a notebook's second run cannot show the first run's hidden inputs."""

import contextlib
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from classroom import Classroom, code, functions, made_up, points, with_first
from classroom.made_up import InProcessBackend
from nbformat import NotebookNode
from submissions import Submission, hand_in

from grading import course, grade_notebook
from grading.execution.notebook import Execution
from grading.execution.questions import Ended, Questions
from grading.execution.time_limits import Clock, TimeLimits
from grading.grade_notebook import ENDED, NOTE_ID, grade
from grading.judging.verdicts import Graded
from grading.release import exercises
from grading.work import Job, Outcome, work

NAME = "int8-matmul"
FULL = sum(points(NAME).values())
PARTS = exercises.load(NAME).parts
MARK = "import os\nprint(os.urandom(8).hex())"  # prints something different in each run


def right() -> NotebookNode:
    source = exercises.source(NAME)
    mine = Submission(NAME, "reference", "", {})
    return with_first(hand_in(mine, source, source, functions(NAME)), MARK)


def shown(nb: NotebookNode) -> list[str]:
    """Return the texts that cells other than checks show."""
    return [
        output.text
        for cell in nb.cells
        if cell.cell_type == "code" and not exercises.is_check(cell)
        for output in cell.outputs
        if "text" in output
    ]


def total(nb: NotebookNode) -> float:
    return sum(part["points"] for part in nb.metadata["rooflib"]["parts"])


@dataclass
class Seen:
    """A record of all runs: texts that their cells printed, and cases asked.

    The cases are a dictionary: part → cases per question.
    """

    texts: list[list[str]] = field(default_factory=list)
    asked: list[dict[str, list[list[Any]]]] = field(default_factory=list)
    ends_cells: bool = False  # whether a cell ends the first run
    ends_hidden: bool = False  # whether a process dies at the first run's first hidden case

    def hidden(self, run: int) -> list[Any]:
        """Return the hidden cases of a run: the second question about each part."""
        return [cases[1] for cases in self.asked[run].values() if len(cases) > 1]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    found = Seen()
    run, ask = grade_notebook.run, Questions.ask

    def noted_run(nb: NotebookNode, *rest: Any) -> Any:
        if found.ends_cells and not found.texts:
            nb.cells.insert(2, code("import os\nos._exit(1)"))
        execution = run(nb, *rest)
        found.texts.append(shown(nb))
        found.asked.append({})
        return execution

    def noted_ask(self: Questions, part: Any, cases: Any, *rest: Any, **more: Any) -> Any:
        before = found.asked[-1].setdefault(part.key, [])
        before.append(list(cases))
        if found.ends_hidden and len(found.asked) == 1 and len(before) == 2:
            raise Ended
        return ask(self, part, cases, *rest, **more)

    monkeypatch.setattr(grade_notebook, "run", noted_run)
    monkeypatch.setattr(Questions, "ask", noted_ask)
    return found


KNOWS = """
import os
plain = {function}
known = {known!r}
def {function}(**case):
    if case not in known:
        os._exit(1)
    return plain(**case)
"""


def ends_when_asked_what_was_not_shown() -> NotebookNode:
    book = right()
    part = PARTS[0]
    (place,) = (
        index
        for index, cell in enumerate(book.cells)
        if cell.metadata.get("nbgrader", {}).get("grade_id") == part.key
    )
    known = [dict(case) for case in part.cases]
    book.cells.insert(place, code(KNOWS.format(function=part.function, known=known)))
    return book


def test_a_second_run_uses_other_inputs_and_its_output_is_not_shown(seen: Seen) -> None:
    graded = grade(ends_when_asked_what_was_not_shown(), NAME, "seed")
    first, second = seen.texts
    assert first != second
    assert shown(graded) == first
    assert seen.hidden(0)
    told = [case for cases in seen.hidden(0) for case in cases]
    assert not [case for cases in seen.hidden(1) for case in cases if case in told]
    assert graded.cells[0].get("id") != NOTE_ID, "nothing is missing"
    got = {part["key"]: part["points"] for part in graded.metadata["rooflib"]["parts"]}
    assert (got["bytes-moved"], got["operations"]) == (0, 2)


def test_a_process_that_died_by_chance_costs_no_points(seen: Seen) -> None:
    seen.ends_hidden = True
    graded = grade(right(), NAME, "seed")
    assert total(graded) == FULL
    assert len(seen.texts) == 2
    assert shown(graded) == seen.texts[0]


def test_a_run_that_died_before_hidden_inputs_is_discarded(seen: Seen) -> None:
    seen.ends_cells = True
    graded = grade(right(), NAME, "seed")
    assert total(graded) == FULL
    assert seen.asked[0] == {}, "it is run again, so nothing need be asked"
    assert shown(graded) == seen.texts[1]
    assert graded.cells[0].get("id") != NOTE_ID
    seen.texts.clear(), seen.asked.clear()
    seen.ends_cells = False
    grade(right(), NAME, "seed")
    assert len(seen.texts) == 1
    assert graded.metadata["rooflib"]["parts"][0]["points"] == PARTS[0].points


def test_second_runs_of_two_gradings_use_the_same_inputs(seen: Seen) -> None:
    for _ in range(2):
        grade(ends_when_asked_what_was_not_shown(), NAME, "seed")
    assert seen.hidden(1) == seen.hidden(3)


def test_a_retried_notebook_shows_its_first_outputs(seen: Seen) -> None:
    book = right()
    first = grade(book, NAME, "seed", TimeLimits(), None, False)
    again = grade(book, NAME, "seed", TimeLimits(), None, False, first)
    assert first.metadata["rooflib"]["told"]
    assert seen.texts[0] != seen.texts[1]
    assert shown(again) == seen.texts[0]
    assert seen.hidden(0) != seen.hidden(1)
    third = grade(book, NAME, "seed", TimeLimits(), None, False, again)
    assert shown(third) == seen.texts[0]
    assert [cell.get("id") for cell in third.cells].count(NOTE_ID) == 0
    first.metadata["rooflib"]["trouble"] = "made up"
    cut = grade(book, NAME, "seed", TimeLimits(), None, False, first)
    assert cut.cells[0].id == NOTE_ID
    assert total(again) == total(third) == FULL


def with_outputs(name: str, count: int, trouble: str = "") -> NotebookNode:
    """Return a notebook whose code cells all have this output and execution count."""
    book = right()
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=name)]
            cell.execution_count = count
    book.metadata["rooflib"] = {"trouble": trouble, "told": False}
    return book


def graded_by(
    monkeypatch: pytest.MonkeyPatch,
    runs: list[tuple[bool, bool]],
    earlier: NotebookNode | None = None,
) -> tuple[NotebookNode, list[str]]:
    """Grade with made-up runs, given as (received hidden inputs, must be repeated).

    Return the notebook and the seeds of the runs.
    """
    seeds: list[str] = []

    def made_up(nb: NotebookNode, name: str, seed: str, *rest: Any) -> Any:
        told, again = runs[len(seeds)]
        seeds.append(seed)
        is_last = rest[-2]
        assert is_last == (len(seeds) == 2)
        book = with_outputs(f"run {len(seeds)}", len(seeds))
        book.metadata["rooflib"]["told"] = told
        return grade_notebook._Run(book, told, again)

    monkeypatch.setattr(grade_notebook, "_grade", made_up)
    nb = grade(right(), NAME, "seed", earlier=earlier)
    assert len(seeds) == len(runs)
    return nb, seeds


@pytest.mark.parametrize(
    ("has_earlier", "runs", "draws", "output"),
    [
        (False, [(True, False)], [0], "run 1"),
        (False, [(False, True), (True, False)], [0, 0], "run 2"),
        (False, [(True, True), (True, False)], [0, 1], "run 1"),
        (True, [(True, False)], [1], "earlier"),
        (True, [(False, True), (True, False)], [1, 1], "earlier"),
        (True, [(True, True), (False, False)], [1, 2], "earlier"),
    ],
)
def test_each_run_that_saw_hidden_inputs_changes_the_seed_of_the_next(
    monkeypatch: pytest.MonkeyPatch,
    has_earlier: bool,
    runs: list[tuple[bool, bool]],
    draws: list[int],
    output: str,
) -> None:
    """Check each run's seed: the course's own, or the first or second after it."""
    earlier = with_outputs("earlier", 7) if has_earlier else None
    nb, seeds = graded_by(monkeypatch, runs, earlier)
    assert seeds == ["seed" + grade_notebook.SECOND_RUN_SEED * draw for draw in draws]
    assert set(shown(nb)) == {output}
    assert nb.metadata["rooflib"]["told"] is True
    checks = [cell for cell in nb.cells if exercises.is_check(cell)]
    assert {cell.outputs[0].text for cell in checks} == {f"run {len(runs)}"}


def with_note(book: NotebookNode) -> NotebookNode:
    book.cells.insert(0, nbformat.v4.new_markdown_cell("A note.", id=NOTE_ID))
    return book


def with_late_cell(book: NotebookNode) -> NotebookNode:
    last = [cell for cell in book.cells if cell.cell_type == "code"][-1]
    late = nbformat.v4.new_output("error", ename=grade_notebook.TOO_LATE, evalue="", traceback=[])
    last.outputs.append(late)
    return book


@pytest.mark.parametrize(
    ("earlier", "has_note"),
    [
        (with_outputs("earlier", 7), False),
        (with_outputs("earlier", 7, "A cell ended the process."), True),
        (with_note(with_outputs("earlier", 7, "A cell ended the process.")), True),
        (with_late_cell(with_outputs("earlier", 7)), True),
        (with_late_cell(with_note(with_outputs("earlier", 7))), True),
    ],
    ids=["whole", "ended", "ended twice", "late", "late twice"],
)
def test_a_note_is_added_only_if_the_first_run_was_cut_short(
    monkeypatch: pytest.MonkeyPatch, earlier: NotebookNode, has_note: bool
) -> None:
    nb, _ = graded_by(monkeypatch, [(True, False)], earlier)
    assert [cell.get("id") == NOTE_ID for cell in nb.cells] == [
        has_note,
        *[False] * (len(nb.cells) - 1),
    ]
    own = [c for c in nb.cells if c.cell_type == "code" and not exercises.is_check(c)]
    assert {cell.execution_count for cell in own} == {7}
    assert set(shown(nb)) == {"earlier"}


def test_earlier_outputs_are_not_restored_if_the_cells_differ(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    earlier = with_outputs("earlier", 7)
    del earlier.cells[-1]
    nb, _ = graded_by(monkeypatch, [(True, False)], earlier)
    own = [c for c in nb.cells if c.cell_type == "code" and not exercises.is_check(c)]
    assert [(cell.outputs, cell.execution_count) for cell in own] == [([], None)] * len(own)


class MadeUp(contextlib.nullcontext[Any]):
    """Fake box and questions of a run that ends in the given way."""

    refused = ("bpf (1 time)",)

    def __init__(self, stopped: str, settled: str, asked_late: set[Clock]) -> None:
        super().__init__(self)
        self.stopped, self.settled, self.late, self.told = stopped, settled, asked_late, False
        self.opened: list[Any] = []

    def settle(self) -> None:
        self.stopped = self.settled

    def collect(self, parts: set[str]) -> None:
        assert parts == {part.key for part in PARTS}


def run_once(
    monkeypatch: pytest.MonkeyPatch,
    trouble: str = "",
    late: Collection[Clock] = (),
    asked_late: Collection[Clock] = (),
    stopped: str = "",
    settled: str = "",
    dies: bool = False,
    last: bool = False,
    late_again: bool = True,
    end: float = 160,
) -> tuple[Any, MadeUp]:
    """Return what `_grade` returns for a run that ended like this, and the fake box."""
    box = MadeUp(stopped, settled, set(asked_late))

    def judge(name: str, questions: Any, seed: str, limits: TimeLimits, why: str) -> Any:
        assert (name, seed, why) == (NAME, "seed", trouble)
        questions.told = True
        if dies:
            raise Ended
        return {part.key: Graded(part.key, 1, 2, "", ()) for part in PARTS}

    monkeypatch.setattr(grade_notebook.time, "monotonic", lambda: 100.0)
    monkeypatch.setattr(
        grade_notebook.sandbox, "open", lambda *words: box.opened.append(words) or box
    )
    monkeypatch.setattr(
        grade_notebook, "Questions", lambda *words, spare: box.opened.append((words, spare)) or box
    )
    monkeypatch.setattr(
        grade_notebook,
        "run",
        lambda nb, box, questions, limits: Execution(trouble, frozenset(late)),
    )
    monkeypatch.setattr(grade_notebook, "judge_parts", judge)
    found = grade_notebook._grade(right(), NAME, "seed", TimeLimits(), True, end, last, late_again)
    (limits, unsafe), (words, spare) = box.opened
    assert (limits.wall_seconds, unsafe, words, spare) == (end - 100, True, (box, end), last)
    return found, box


@pytest.mark.parametrize(
    ("state", "again"),
    [
        ({"trouble": ENDED}, True),
        ({"trouble": ENDED, "settled": "memory"}, False),
        ({"trouble": ENDED, "last": True}, False),
        ({"trouble": ENDED, "end": 99}, False),
        ({"trouble": ENDED, "late_again": False}, True),
        ({"trouble": "made up"}, False),
        ({"late": {"wall"}}, True),
        ({"late": {"wall"}, "late_again": False}, False),
        ({"late": {"wall"}, "last": True}, False),
        ({"late": {"wall"}, "end": 99}, False),
        ({"late": {"cpu"}}, False),
    ],
    ids=str,
)
def test_which_incomplete_runs_are_repeated_before_hidden_inputs_are_sent(
    monkeypatch: pytest.MonkeyPatch, state: dict[str, Any], again: bool
) -> None:
    found, _ = run_once(monkeypatch, **state)
    assert found.again is again
    assert found.told is not again
    assert ("parts" in found.nb.metadata.get("rooflib", {})) is not again


@pytest.mark.parametrize(
    ("state", "again"),
    [
        ({}, False),
        ({"asked_late": {"wall"}}, True),
        ({"asked_late": {"wall"}, "late_again": False}, False),
        ({"asked_late": {"wall"}, "last": True}, False),
        ({"asked_late": {"wall"}, "end": 99}, False),
        ({"asked_late": {"cpu"}}, False),
        ({"stopped": "time"}, False),
    ],
    ids=str,
)
def test_a_run_with_calls_over_only_their_wall_limit_is_repeated(
    monkeypatch: pytest.MonkeyPatch, state: dict[str, Any], again: bool
) -> None:
    found, _ = run_once(monkeypatch, **state)
    assert (found.again, found.told) == (again, True)
    about = found.nb.metadata["rooflib"]
    assert about["late"] is (bool(state.get("asked_late")) or "stopped" in state)
    assert (about["told"], about["refused"]) == (True, ["bpf (1 time)"])
    assert [part["key"] for part in about["parts"]] == [part.key for part in PARTS]
    checks = [cell for cell in found.nb.cells if exercises.is_check(cell)]
    assert all("1 of 2 points" in cell.outputs[0].text for cell in checks)
    assert sum("points" in str(cell.get("outputs")) for cell in found.nb.cells) == len(checks)


@pytest.mark.parametrize(
    ("state", "trouble"),
    [
        ({"trouble": "made up"}, "made up"),
        ({"trouble": "made up", "settled": "memory"}, "made up"),
        ({"trouble": ENDED, "settled": "memory"}, grade_notebook.STOP_REASONS["memory"]),
        ({"trouble": "made up", "stopped": "time"}, grade_notebook.STOP_REASONS["time"]),
        ({"late": {"cpu"}}, ""),
    ],
    ids=str,
)
def test_an_incomplete_run_records_its_reason_and_whether_it_timed_out(
    monkeypatch: pytest.MonkeyPatch, state: dict[str, Any], trouble: str
) -> None:
    found, _ = run_once(monkeypatch, **state)
    about = found.nb.metadata["rooflib"]
    assert about["trouble"] == trouble
    assert about["late"] is ("late" in state or state.get("stopped") == "time")


def test_a_notebook_whose_process_dies_during_a_call_is_run_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, _ = run_once(monkeypatch, trouble="made up", dies=True)
    assert (found.again, found.told) == (True, True)
    assert found.nb.metadata["rooflib"]["trouble"] == "made up"


JOB = made_up.job(NAME, b"x", made_up.NOTEBOOK)


@pytest.mark.parametrize("told", [True, False])
def test_a_retry_gets_the_first_outputs_if_the_first_try_saw_hidden_inputs(
    monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    jobs: list[Job] = []

    def late(job: Job) -> Outcome:
        jobs.append(job)
        made = replace(made_up.outcome(NAME), notebook="the first", told=told)
        return replace(made, late=len(jobs) == 1)

    monkeypatch.setattr(course, "work", late)
    named: Any = (JOB, None, b"")
    assert len(list(course._done(InProcessBackend(), iter([(named, JOB)]), 600))) == 1
    assert [job.earlier for job in jobs] == ["", "the first" if told else ""]


def test_regrading_the_same_notebook_keeps_its_first_outputs(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, jobs = Classroom(tmp_path / "course", release), list[Job]()

    def again(job: Job) -> Outcome:
        jobs.append(job)
        return replace(work(replace(job, reason="made up")), again=True, told=True)

    monkeypatch.setattr(course, "work", again)
    room.hand_in("ada", NAME, room.released(NAME))
    for _ in range(2):
        room.course.grade(InProcessBackend())
    assert jobs[0].earlier == ""
    assert jobs[1].earlier == room.course.graded("ada", NAME).read_text()
    room.course.graded("ada", NAME).unlink()
    room.course.grade(InProcessBackend())
    assert jobs.pop().earlier == "", "there is nothing to show"
    room.hand_in("ada", NAME, room.solved(NAME))
    room.course.grade(InProcessBackend())
    assert jobs[2].earlier == "", "another notebook has learned nothing"


def test_the_outcome_of_an_unreadable_notebook_says_it_got_no_hidden_inputs() -> None:
    assert work(made_up.job(NAME, b"[]", _released())).told is False


def _released() -> str:
    return str(nbformat.writes(exercises.source(NAME)))
