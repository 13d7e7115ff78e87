"""Slips: mutants of the reference solutions with one mistake each.

A slip is judged as a learner's answer would be: by the check in the notebook, and by grading in
many classes. Slips come from two sources: the reference solutions themselves, and the functions in
`spelled_out/`, which compute the same from named quantities. There, a comment after a quantity
names the misconceptions that a learner who gets this quantity wrong may have.
"""

import ast
import itertools
import math
import random
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import CodeType
from typing import Any

from solutions import in_check, in_class, part_of, reference, solved

from grading.release import exercises
from grading.release.cases import Cases, with_values
from grading.schema.parts import Part
from grading.schema.ranges import Choice, Real, Whole
from roofkit.check.answers import Answer, ask_all
from roofkit.check.call_limit import limited
from roofkit.check.compare import Verdict, judge, same
from roofkit.check.findings import number_pairs
from roofkit.check.plot_reading import reading

from .trees import change, variants

SPELLED_OUT = Path(__file__).parent / "spelled_out"
CLASSES = 20
EXACT = 1e-12
MAX_CORNERS = 64
SECONDS, WALL_SECONDS = 1.0, 20.0  # limits of a call, for slips that may loop forever


@dataclass(frozen=True)
class Slip:
    """A slip: one changed function, and the part whose answers it changes.

    function: the name of the changed one, the part's own or one that it calls.
    causes: misconceptions that explain this slip, None if unknown.
    """

    exercise: str
    part: str
    function: str
    change: str
    tree: ast.FunctionDef
    causes: frozenset[str] | None
    rounding: bool  # whether the slip only adds a rounding
    reordering: bool  # whether the slip only swaps arguments of a call
    endless: bool  # whether the slip may loop forever

    @property
    def own(self) -> bool:
        """Whether the part's own function is the changed one."""
        return part_of(self.exercise, self.part).function == self.function

    def __str__(self) -> str:
        return f"{self.exercise}/{self.part}: {self.change}"


@cache
def slips(exercise: str) -> tuple[Slip, ...]:
    """Return the distinct slips of an exercise, part by part."""
    found: dict[tuple[str, str, str], Slip] = {}
    for part in exercises.load(exercise).parts:
        for tree, tags in _written(exercise, part):
            for slip in _of_function(exercise, part, tree, tags):
                found.setdefault((slip.part, slip.function, slip.change), slip)
    return tuple(found.values())


def unchanged(exercise: str, part: Part) -> Iterator[Slip]:
    """Yield the spelled-out functions of a part, as slips that change nothing."""
    for tree, _ in _spelled_out(exercise).get(part.function, ()):
        yield Slip(exercise, part.key, tree.name, "", tree, None, False, False, False)


def answers(slip: Slip, inputs: Sequence[dict[str, Any]]) -> list[Answer]:
    """Return a part's answers with the slip; the last answer is from a repeated call."""
    names = dict(reference(slip.exercise))
    for code in _functions(slip.exercise).values():
        exec(code, names)
    exec(_compiled(slip.tree), names)
    part = part_of(slip.exercise, slip.part)
    limit: Any = partial(limited, SECONDS, WALL_SECONDS) if slip.endless else nullcontext
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(ask_all(names[part.function], inputs, part.kind, limit))
    if part.kind != "figure":
        return found
    seen = [
        answer if answer.problem else Answer(*reading(answer.value, case))
        for answer, case in zip(found, inputs, strict=False)
    ]
    return [*seen, found[-1]]


def verdict(slip: Slip, cases: Cases, private: bool = True) -> Verdict:
    """Return the check's verdict on the slip for these cases."""
    *found, again = answers(slip, cases.inputs)
    part = part_of(slip.exercise, slip.part)
    return judge(
        found, cases.expected, cases.misconceptions, part.tolerance, cases.inputs, private, again
    )


def own_check(slip: Slip) -> Verdict:
    """Return the verdict of the learner's check, which uses the published cases."""
    return verdict(slip, in_check(slip.exercise, slip.part))


def classes_passed(slip: Slip, classes: int = CLASSES) -> list[int]:
    """Return the classes of students in which grading accepts the slip."""
    asked = fresh(slip.exercise, slip.part, classes)
    known = in_check(slip.exercise, slip.part) + asked
    tolerance = part_of(slip.exercise, slip.part).tolerance
    *found, again = answers(slip, known.inputs)
    right = [
        not answer.problem and same(answer.value, value, tolerance)
        for answer, value in zip(found, known.expected, strict=True)
    ]
    first, each = len(right) - len(asked.inputs), len(asked.inputs) // classes
    if again.problem or not all(right[:first]):
        return []
    return [
        seed
        for seed in range(classes)
        if all(right[first + seed * each : first + (seed + 1) * each])
    ]


@cache
def fresh(exercise: str, part: str, classes: int) -> Cases:
    """Return cases that the learner's check doesn't use.

    They are the hidden cases of `classes` classes of students, which differ in their seed.
    """
    cases = in_class(exercise, part, 0)
    for seed in range(1, classes):
        cases += in_class(exercise, part, seed)
    return cases


@cache
def everything(exercise: str, part: str) -> Cases:
    """Return published cases, all classes' hidden cases, and the ranges' corners."""
    return in_check(exercise, part) + fresh(exercise, part, CLASSES) + corners(exercise, part)


@cache
def corners(exercise: str, part: str) -> Cases:
    """Return cases with each argument at an end of its range or at an option.

    Takes a sample if there are many, and none if a range has no ends.
    """
    ranges = part_of(exercise, part).ranges
    ends = [
        span.options if isinstance(span, Choice) else (span.low, span.high)
        for span in ranges.values()
        if isinstance(span, Choice | Real | Whole)
    ]
    if len(ends) < len(ranges):
        return with_values(exercise, part_of(exercise, part), ())
    rows = list(itertools.product(*ends))
    rows = random.Random(0).sample(rows, min(len(rows), MAX_CORNERS))
    cases = [_arguments(ranges, row) for row in rows]
    allowed = part_of(exercise, part).allowed
    return with_values(exercise, part_of(exercise, part), [c for c in cases if allowed(**c)])


def deviation(slip: Slip, cases: Cases) -> float:
    """Return the slip's largest relative error over the cases, or inf if unknown."""
    worst = 0.0
    *found, again = answers(slip, cases.inputs)
    if again.problem:
        return math.inf
    for answer, right in zip(found, cases.expected, strict=True):
        if answer.problem:
            return math.inf
        pairs = [pair for pair in number_pairs(answer.value, right) if pair[0] != pair[1]]
        if any(not math.isfinite(value) or not wanted for value, wanted in pairs):
            return math.inf
        if not pairs and not same(
            answer.value, right, EXACT
        ):  # other kinds of values, such as names
            return math.inf
        worst = max([worst, *(abs(value / wanted - 1) for value, wanted in pairs)])
    return worst


def _arguments(names: Iterable[str], row: Iterable[Any]) -> dict[str, Any]:
    """Return the arguments of a case; a range named "a, b" has pairs as values."""
    case: dict[str, Any] = {}
    for name, value in zip(names, row, strict=True):
        several = name.split(", ")
        case |= dict(zip(several, value, strict=True)) if len(several) > 1 else {name: value}
    return case


@cache
def _trees(exercise: str) -> dict[str, ast.FunctionDef]:
    """Return name → syntax tree of the functions in the reference solution."""
    return {
        node.name: node
        for source in solved(exercise)
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef)
    }


@cache
def _functions(exercise: str) -> dict[str, CodeType]:
    return {name: _compiled(tree) for name, tree in _trees(exercise).items()}


def _written(exercise: str, part: Part) -> Iterator[tuple[ast.FunctionDef, dict[int, set[str]]]]:
    """Yield functions to mutate for a part: (tree, misconceptions by line).

    They are its own function, spelled-out ones, and callees.
    """
    trees = _trees(exercise)
    waiting, seen = [part.function], set[str]()
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        yield trees[name], {}
        called = {node.id for node in ast.walk(trees[name]) if isinstance(node, ast.Name)}
        waiting += [other for other in trees if other in called]
        if name == part.function:
            yield from _spelled_out(exercise).get(name, ())


@cache
def _spelled_out(exercise: str) -> dict[str, list[tuple[ast.FunctionDef, dict[int, set[str]]]]]:
    """Return name → spelled-out functions, with misconceptions by line.

    A comment tags a line with its misconceptions.
    """
    path = SPELLED_OUT / f"{exercise.replace('-', '_')}.py"
    if not path.exists():
        return {}
    source = path.read_text(encoding="utf-8")
    comments = {
        number: set(filter(None, re.split(r"[,\s]+", comment)))
        for number, line in enumerate(source.splitlines(), start=1)
        for _, mark, comment in [line.partition("  #")]
        if mark
    }
    tree = ast.parse(source)
    tags = {
        number: comments[last]
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.Return)
        for last in [node.end_lineno or 0]
        if last in comments
        for number in range(node.lineno, last + 1)
    }
    found: dict[str, list[tuple[ast.FunctionDef, dict[int, set[str]]]]] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append((node, tags))
    return found


def _of_function(
    exercise: str, part: Part, tree: ast.FunctionDef, tags: dict[int, set[str]]
) -> Iterator[Slip]:
    endless = any(isinstance(node, ast.While) for node in ast.walk(tree))
    for variant in variants(tree):
        causes = tags.get(variant.line)
        said = change(tree, variant.tree)
        if not said:  # an equivalent function
            continue
        yield Slip(
            exercise,
            part.key,
            tree.name,
            said,
            variant.tree,
            None if causes is None else frozenset(causes),
            variant.rounding,
            variant.reordering,
            endless,
        )


def _compiled(tree: ast.FunctionDef) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a slip may call a number, which the compiler warns of
        return compile(ast.fix_missing_locations(ast.Module([tree], [])), "<slip>", "exec")
