"""What a check tells a learner besides the mistake."""

from collections.abc import Mapping

import pytest
from learner import PASSED, answered, parts, results
from submissions import Submission

from grading.release import exercises

NAME = "int8-matmul"
WRONG = "def bytes_moved(B, D, F):\n    return B * D, 7.25"
CALLS = """
def operations_per_byte(B, D, F):
    return 2 * B * D * F, 2 * B * D * F / sum(bytes_moved(B, D, F)), 2 * B
"""
TWICE = """
for _ in range(2):
    try:
        check("{key}", {function})
    except Exception as problem:
        print(problem)
    print("----")
check.hint("{key}")
"""


def told(checks: Mapping[str, str] | None = None, **answers: str) -> dict[str, str]:
    """Return what the checks of a notebook with these answers say.

    checks: part → the code of its check, if it is another. answers: part, with underscores → code.
    """
    book = answered(Submission(NAME, "reference", "", {}))
    for cell in book.cells:
        grade_id = str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        key = grade_id.removesuffix("-solution").replace("-", "_")
        if grade_id.endswith("-solution") and key in answers:
            cell.source = answers[key]
        elif checks and grade_id in checks:
            cell.source = checks[grade_id]
    ((said, _),) = results(NAME, [book])
    return said


@pytest.fixture(scope="module")
def finished() -> dict[str, str]:
    return told()


def test_a_passed_check_says_what_was_asked_and_what_grading_will_ask(
    finished: dict[str, str],
) -> None:
    for key, part in parts(NAME).items():
        assert PASSED in finished[key]
        assert f"{len(part.cases)} published cases" in finished[key]
        assert part.function in finished[key].split(PASSED)[1]
        assert f" {100 * part.tolerance:g}%" in finished[key]
        for name, values in part.cases[0].items():
            assert f"{name} = " in finished[key], (name, values)
        for name in part.ranges:
            assert f"{name}: " in finished[key]


def test_thoughts_wait_for_all_parts_and_those_left_are_named(finished: dict[str, str]) -> None:
    thoughts, known = exercises.load(NAME).thoughts, parts(NAME)
    calls = {k: f'check("{k}", {one.function})\ncheck.thoughts()' for k, one in known.items()}
    *others, last = told(calls).values()
    assert thoughts in last
    for number, said in enumerate(others, start=1):
        assert thoughts not in said
        left = [one.title in said.split("Left:")[1] for one in known.values()]
        assert left == [at >= number for at in range(len(known))], said
    assert "check.thoughts()" in [*finished.values()][-1]


def test_a_stronger_hint_is_offered_after_the_second_failure_only() -> None:
    code = TWICE.format(key="bytes-moved", function="bytes_moved")
    first, second, hint = told({"bytes-moved": code}, bytes_moved=WRONG)["bytes-moved"].split(
        "----"
    )
    assert "check.hint" not in first
    assert 'check.hint("bytes-moved")' in second
    assert parts(NAME)["bytes-moved"].hint in hint


def test_a_part_that_calls_a_wrong_one_is_sent_there_first() -> None:
    said = told(bytes_moved=WRONG, intensity=CALLS)["intensity"]
    assert PASSED not in said
    assert "`bytes_moved`" in said
    right = told(intensity=CALLS)["intensity"]
    assert PASSED in right


def test_a_wrong_number_is_shown_beside_its_case_and_the_right_one_is_not() -> None:
    said = told(bytes_moved=WRONG)["bytes-moved"]
    case = parts(NAME)["bytes-moved"].cases[0]
    right = exercises.expected(NAME, parts(NAME)["bytes-moved"], case)
    assert "7.25" in said
    assert not any(
        f"{number:,}" in said.replace(f"{case['B'] * case['D']:,}", "") for number in right
    )


def test_an_error_names_the_function_and_its_line() -> None:
    """Also if it is raised in a library that the function calls."""
    code = "def bytes_moved(B, D, F):\n    import statistics as s\n    return "
    for raising, error in (("[B, D][2]", "IndexError"), ("s.mean([])", "StatisticsError")):
        said = told(bytes_moved=code + raising)["bytes-moved"]
        assert error in said
        assert "bytes_moved" in said
        assert "line 3" in said


def test_an_unwritten_part_is_told_so_and_does_not_count_as_a_failure() -> None:
    stub = "def bytes_moved(B, D, F):\n    # YOUR CODE HERE\n    raise NotImplementedError"
    code = TWICE.format(key="bytes-moved", function="bytes_moved")
    said = told({"bytes-moved": code}, bytes_moved=stub)
    assert "NotImplementedError" not in said["bytes-moved"]
    assert "run: check.hint" not in said["bytes-moved"]
    assert PASSED not in said["intensity"]
