"""Tests of released data, the drawing of hidden cases, and the digest."""

import math
import random
import re
import shutil
from dataclasses import replace

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.nbgraderformat.v3 import MetadataValidatorV3
from nbgrader.utils import is_grade, is_locked, is_solution, is_task

import rooflib
from grading.release import exercises
from grading.release.cases import (
    HIDDEN_CASES,
    HIDDEN_CASES_BY_KIND,
    hidden,
    published,
    stratified,
)
from grading.release.embedding import cases_cell, continue_after_errors, data, released, short
from grading.release.translation import languages
from grading.schema.parts import Misconception, Part, combinations
from grading.schema.ranges import Choice, Made, Pairs, Printed, Real, Sheets, Some, Whole
from roofkit.check.answers import plain
from roofkit.check.packing import unpack

NAME = "int8-matmul"
ROOT = exercises.ROOT
METERS = Printed(1, 2000, {"m": 1, "km": 1e3})


def operations(misconception):
    """Return the `operations` part with this function as its only misconception."""
    (part,) = (part for part in exercises.load(NAME).parts if part.key == "operations")
    return replace(part, misconceptions=(Misconception("rare", "", "", misconception, ""),))


@pytest.mark.parametrize("seed", range(12))
def test_hidden_cases_are_drawn_again_until_a_misconception_shows(seed):
    part = operations(lambda B, D, F: 2 * B * D * F if B < 800 else 0)
    assert any(case["B"] >= 800 for case in hidden(NAME, part, str(seed)).inputs)


def test_every_misconception_shows_in_the_hidden_cases():
    part = operations(lambda B, D, F: 0)
    rare = operations(lambda B, D, F: 2 * B * D * F if B < 800 else 0).misconceptions
    for many in (part.misconceptions + rare, rare + part.misconceptions):
        cases = hidden(NAME, replace(part, misconceptions=many), "4")
        assert any(case["B"] >= 800 for case in cases.inputs)


def test_a_misconception_that_raises_counts_as_distinguished():
    hidden(NAME, operations(lambda B, D, F: 1 / 0), "seed")


def test_ranges_that_cannot_show_a_misconception_are_an_error():
    part = operations(lambda B, D, F: 2 * B * D * F)
    with pytest.raises(ValueError, match=r"int8-matmul, operations: the ranges don't tell"):
        hidden(NAME, part, "seed")


def test_parts_have_eight_hidden_cases_and_figures_two():
    assert (HIDDEN_CASES, HIDDEN_CASES_BY_KIND) == (8, {"figure": 2})
    for name, count in ((NAME, 8), ("roofline-plot", 2)):
        part = exercises.load(name).parts[-1]
        assert len(hidden(name, part, "seed").inputs) == count


def test_hidden_cases_differ_between_parts():
    first, second = (
        hidden(NAME, part, "seed").inputs
        for part in exercises.load(NAME).parts
        if part.key in ("bytes-moved", "operations")
    )
    assert first != second


def test_huge_ranges_are_drawn_without_iterating():
    """Iterating over such a range would never end."""
    even, powers = Whole(3, 10**18, multiple_of=2), Whole(3, 10**18, power_of_two=True)
    numbers = [number for number, _ in zip(even.draws(random.Random(1)), range(99), strict=False)]
    assert all(4 <= number <= 10**18 and number % 2 == 0 for number in numbers)
    assert min(numbers) < 10**6 < 10**12 < max(numbers)
    drawn = [number for number, _ in zip(powers.draws(random.Random(1)), range(999), strict=False)]
    assert set(drawn) == {2**exponent for exponent in range(2, 60)}
    with pytest.raises(ValueError, match="no number from 5 to 7 is allowed"):
        Whole(5, 7, power_of_two=True)


# --- strata --------------------------------------------------------------------------------------


def part(ranges, **more):
    return Part("part", "function", 1, (), ranges, (), **more)


def taken(one, seed=1):
    return stratified("exercise", one, one.draws(random.Random(seed)))


def test_rare_branches_occur_in_every_set_of_hidden_cases():
    rare = part({"x": Whole(1, 1000)}, branches={"large": lambda x: x > 990})
    for seed in range(40):
        cases = taken(rare, seed)
        assert len(cases) == HIDDEN_CASES
        assert sum(case["x"] > 990 for case in cases) >= 1


def test_cases_without_new_strata_are_drawn_too():
    rare = part({"x": Whole(1, 1000)}, branches={"large": lambda x: x > 500})
    counts = {sum(case["x"] > 500 for case in taken(rare, seed)) for seed in range(20)}
    assert max(counts) < HIDDEN_CASES
    assert len(counts) > 1


def test_each_combination_occurs_once_if_the_cases_suffice():
    both = part(
        {"unit": Choice("a", "b", "c", "d"), "twice": Choice(True, False)},
        branches=combinations(unit=("a", "b", "c", "d"), twice=(True, False)),
    )
    assert len(both.branches) == HIDDEN_CASES
    for seed in range(40):
        pairs = {(case["unit"], case["twice"]) for case in taken(both, seed)}
        assert len(pairs) == HIDDEN_CASES


def test_choices_and_units_are_strata():
    one = part(
        {"x, unit": Printed(1, 2, {"m": 1, "km": 1e3}), "y": Choice(True, False), "z": Real(1, 2)}
    )
    assert one.strata() == {"x, unit: m", "x, unit: km", "y: True", "y: False"}
    case = {"x": 1, "unit": "km", "y": False, "z": 1}
    assert one.strata_of(case) == {"x, unit: km", "y: False"}


def test_one_case_can_cover_several_strata():
    sizes = tuple(range(10))
    many = part(
        {name: Choice(*sizes[:2]) for name in "abcdefg"},
        branches={"sum": lambda **case: sum(case.values()) == 2},
        kind="figure",
    )
    assert len(many.strata()) > 7 * HIDDEN_CASES_BY_KIND["figure"]
    for seed in range(10):
        cases = taken(many, seed)
        assert set().union(*map(many.strata_of, cases)) == many.strata()


def test_a_branch_that_never_occurs_is_an_error():
    never = part({"x": Whole(1, 9)}, branches={"large": lambda x: x > 9})
    with pytest.raises(ValueError, match=r"exercise, part: .* 8 cases with all of large"):
        taken(never)


def test_only_allowed_cases_are_drawn():
    even = part({"x": Whole(1, 99)}, allowed=lambda x: x % 2 == 0)
    draws = even.draws(random.Random(1))
    assert all(next(draws)["x"] % 2 == 0 for _ in range(50))


@pytest.mark.parametrize("name", exercises.names())
def test_hidden_cases_cover_all_strata_except_in_figures(name):
    for one in exercises.load(name).parts:
        if one.kind != "figure":
            found = map(one.strata_of, hidden(name, one, "seed").inputs)
            assert set().union(*found) == one.strata()


def test_cases_can_be_concatenated():
    one = operations(lambda B, D, F: B * D * F)
    first, second = published(NAME, one), hidden(NAME, one, "seed")
    both = first + second
    assert both.inputs == first.inputs + second.inputs
    assert both.expected == tuple(2 * case["B"] * case["D"] * case["F"] for case in both.inputs)
    (known,) = both.misconceptions
    assert [2 * value for value in known.values] == list(both.expected)


def test_every_third_case_is_moved_onto_a_boundary():
    """The boundaries take turns; a case that isn't allowed after its move is dropped."""
    three = part(
        {"x": Made(lambda rng: 1, "")},
        branches=dict.fromkeys(["two", "odd", "four"], lambda x: True),
        boundaries={
            "two": lambda case, rng: case | {"x": 2},
            "odd": lambda case, rng: case | {"x": -1},
            "four": lambda case, rng: case | {"x": 4 + rng.randint(0, 0)},
        },
        allowed=lambda x: x > 0,
    )
    draws = three.draws(random.Random(1))
    assert [next(draws)["x"] for _ in range(11)] == [1, 1, 2, 1, 1, 1, 1, 4, 1, 1, 2]


def test_a_boundary_without_a_branch_of_the_same_name_is_an_error():
    with pytest.raises(ValueError, match="part: no branch for the boundaries large"):
        part({}, branches={"small": bool}, boundaries={"large": lambda case, rng: case})


def test_a_part_without_hint_or_misconceptions_can_be_released():
    data = released(NAME, part({}))
    assert (data["hint"], data["misconceptions"], data["expected"]) == ("", [], [])


# --- released data --------------------------------------------------------------------------------


def test_the_cases_cell_is_locked_and_gives_no_points():
    cell = cases_cell("data")
    assert cell.source == 'from roofkit.check import cases\n\ncases("""\ndata\n""")'
    marks = cell.metadata.nbgrader
    assert (marks["grade"], marks["solution"], marks["locked"]) == (False, False, True)
    assert marks["grade_id"] == cell.id == "cases"
    assert cell.metadata.jupyter.source_hidden


@pytest.mark.parametrize("name", exercises.names())
def test_released_parts_are_plain_data(name):
    for part in exercises.load(name).parts:
        data = released(name, part)
        assert data["function"] == part.function
        assert (data["kind"], data["tolerance"]) == (part.kind, part.tolerance)
        assert data["ranges"] == {key: str(values) for key, values in part.ranges.items()}
        assert [entry["key"] for entry in data["misconceptions"]] == [
            known.key for known in part.misconceptions
        ]
        assert data["hint"] == part.hint
        assert plain_data(data), part.key


def test_the_hint_of_a_part_is_released():
    assert released(NAME, replace(exercises.load(NAME).parts[0], hint="Look."))["hint"] == "Look."


def plain_data(value):
    if isinstance(value, dict):
        return all(isinstance(key, str) and plain_data(entry) for key, entry in value.items())
    if isinstance(value, list):
        return all(map(plain_data, value))
    return value is None or type(value) in (int, float, str)


def test_released_values_are_rounded_to_nine_digits():
    assert short((1 / 3, {"a": [2 / 3]}, 10**12, "x", None)) == [
        0.333333333,
        {"a": [0.666666667]},
        10**12,
        "x",
        None,
    ]
    assert plain(short(1 / 3), "number") == 0.333333333


@pytest.mark.parametrize("name", [NAME, "int8-weights"])
def test_solutions_are_released_only_if_the_environment_asks_for_them(name, monkeypatch):
    parts = {part.key: part.function for part in exercises.load(name).parts}
    monkeypatch.delenv("SOLUTIONS", raising=False)
    plain = unpack(data(name, str.upper))
    assert plain.keys() == parts.keys()
    assert not any("solution" in part for part in plain.values())
    monkeypatch.setenv("SOLUTIONS", "1")
    whole = unpack(data(name, str.upper))
    for key, function in parts.items():
        solution = whole[key].pop("solution")
        assert f"def {function}(" in solution
        assert "SOLUTION" not in solution
        assert solution == solution.rstrip()
        compile(solution, key, "exec")
    assert whole == plain
    for part in plain.values():
        assert (part["moral"], part["thoughts"]) == (
            exercises.load(name).moral,
            exercises.load(name).thoughts,
        )
        assert all(known["read"].isupper() for known in part["misconceptions"])


def test_nbgrader_recognizes_the_cases_cell_as_locked_without_points():
    cell = cases_cell("data")
    found = [is_it(cell) for is_it in (is_locked, is_grade, is_solution, is_task)]
    assert found == [True, False, False, False]
    nb = new_notebook(cells=[cell])
    nb.nbformat_minor = 5
    MetadataValidatorV3().validate_nb(nb)


def test_run_all_continues_after_errors_in_answers_and_checks():
    kinds = ({"grade": True}, {"solution": True}, {"grade": False, "solution": False}, None)
    cells = [new_code_cell(metadata={"nbgrader": kind} if kind else {}) for kind in kinds]
    cells[1].metadata["tags"] = ["mine"]
    continue_after_errors(new_notebook(cells=cells))
    tags = [cell.metadata.get("tags") for cell in cells]
    assert tags == [["raises-exception"], ["mine", "raises-exception"], None, None]


# --- ranges ---------------------------------------------------------------------------------------


def drawn(values, count=400):
    draws = values.draws(random.Random(1))
    return [next(draws) for _ in range(count)]


def test_whole_numbers_are_log_uniform_in_their_range():
    numbers = drawn(Whole(2, 1024))
    assert min(numbers) == 2
    assert 950 < max(numbers) <= 1024
    assert 150 < sum(number <= 45 for number in numbers) < 250  # lower half of the range, log scale
    assert all(
        number % 128 == 0 and 512 <= number <= 4096 for number in drawn(Whole(512, 4096, 128))
    )
    assert set(drawn(Whole(128, 8192, power_of_two=True))) == {2**n for n in range(7, 14)}


class Aim:
    """Fake random state whose `uniform` returns the logarithm of one number."""

    def __init__(self, number):
        self.number = number

    def uniform(self, low, high):
        self.low, self.high = low, high
        return math.log(self.number)


@pytest.mark.parametrize(
    ("values", "aim", "expected"),
    [
        (Whole(3, 100), 3 - 1e-9, 3),
        (Whole(3, 100), 100 + 1e-9, 100),
        (Whole(3, 100), 99.4, 99),
        (Whole(3, 100), 99.6, 100),
        *(
            (Whole(10, 95, multiple_of=10), aim, at)
            for aim, at in ((14.1, 10), (14.2, 20), (95, 90))
        ),
        *((Whole(4, 40, power_of_two=True), aim, at) for aim, at in ((5.6, 4), (5.7, 8), (40, 32))),
    ],
)
def test_a_whole_number_is_the_nearest_on_a_logarithmic_scale(values, aim, expected):
    """On that scale, the middle of 10 and 20 is 14.14, and that of 4 and 8 is 5.66."""
    rng = Aim(aim)
    assert next(values.draws(rng)) == expected
    ends = [next(values.draws(Aim(end))) for end in (values.low, values.high)]
    assert [rng.low, rng.high] == list(map(math.log, ends))


def test_each_list_of_a_choice_is_a_stratum():
    lists = Choice([1, 2, 3], [4, 5])
    assert lists.forms() == ("1 to 3", "4 to 5")
    assert lists.form([4, 5]) == "4 to 5"
    assert str(Choice([1], "all")) == "other lists"


def test_an_empty_range_is_an_error():
    with pytest.raises(ValueError, match="no number from 5 to 7 is allowed"):
        Whole(5, 7, multiple_of=8)


def test_real_numbers_are_log_uniform_with_six_digits():
    numbers = drawn(Real(1e12, 4e14))
    assert 1e12 <= min(numbers) < 1.1e12
    assert 3.6e14 < max(numbers) <= 4e14
    assert 150 < sum(number <= 2e13 for number in numbers) < 250
    assert all(number == float(f"{number:.5e}") for number in numbers)


def test_a_choice_is_drawn_without_replacement():
    numbers = drawn(Choice("a", "b", "c"), 12)
    assert all(set(numbers[at : at + 3]) == {"a", "b", "c"} for at in range(0, 12, 3))


def test_values_drawn_by_a_ranges_own_function_depend_only_on_the_seed():
    pairs = Made(lambda rng: (low := rng.randint(1, 9), low + rng.randint(1, 9)), "growing pairs")
    assert str(pairs) == "growing pairs"
    assert pairs.forms() == ()
    assert all(low < high for low, high in drawn(pairs))
    assert drawn(pairs) == drawn(pairs)
    assert len(set(drawn(pairs))) > 50


def test_invented_chips_have_new_names_and_peaks_and_bandwidths_in_range():
    found = drawn(Pairs(3, 5, Real(1e12, 2e12), Real(3e11, 4e11)), 20)
    assert {len(chips) for chips in found} == {3, 4, 5}
    for chips in found:
        assert all(1e12 <= p <= 2e12 and 3e11 <= b <= 4e11 for p, b in chips.values())
        assert not set(chips) & {chip.name for chip in rooflib.chips()}


def test_invented_data_sheets_use_every_unit_and_half_are_sparse():
    peaks, bandwidths = {"TFLOP/s": 1e12, "PFLOP/s": 1e15}, {"TB/s": 1e12, "Gbit/s": 1.25e8}
    values = Sheets(2, 4, Printed(2e14, 4e15, peaks), Printed(7e11, 9.9e11, bandwidths))
    lists = drawn(values, 20)
    assert {len(sheets) for sheets in lists} == {2, 3, 4}
    sheets = [sheet for sheets in lists for sheet in sheets]
    assert abs(sum(sheet["sparse"] for sheet in sheets) - len(sheets) / 2) <= 0.5
    for sheet in sheets:
        assert 2e14 <= sheet["peak"] * peaks[sheet["peak_unit"]] <= 4e15
        assert 7e11 <= sheet["bandwidth"] * bandwidths[sheet["bandwidth_unit"]] <= 9.9e11
    assert {sheet["peak_unit"] for sheet in sheets} == peaks.keys()
    assert {sheet["bandwidth_unit"] for sheet in sheets} == bandwidths.keys()


def test_each_unit_of_measurement_occurs_once_in_three_draws():
    figures = drawn(Printed(7e11, 9e11, {"GB/s": 1e9, "TB/s": 1e12, "B/s": 1}), 30)
    units = [unit for _, unit in figures]
    assert all(len(set(units[at : at + 3])) == 3 for at in range(0, 30, 3))
    assert all(0.7 <= number <= 0.9 for number, unit in figures if unit == "TB/s")
    assert all(float(f"{number:.6g}") == number for number, _ in figures)


def test_lists_of_sizes_vary_in_length_and_order():
    lists = drawn(Some((1, 2, 3, 4), least=2, most=3), 2000)
    assert {len(sizes) for sizes in lists} == {2, 3}
    assert all(len(set(sizes)) == len(sizes) for sizes in lists)
    assert len(set(map(tuple, lists))) == 4 * 3 + 4 * 3 * 2


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (Whole(2, 9), "a whole number from 2 to 9"),
        (Whole(8, 64, 8), "a multiple of 8 from 8 to 64"),
        (Whole(8, 64, power_of_two=True), "a power of two from 8 to 64"),
        (Real(1e12, 2.5e12), "a number from 1e+12 to 2.5e+12"),
        (Choice(0.5, 1), "one of 0.5, 1"),
        (Choice([1], [2]), "other lists"),
        (Some((1, 2, 3), 1, 2), "lists of 1 to 2 sizes in any order"),
        (METERS, "a number from 1 to 2000 in base units, printed in m, km"),
        (Pairs(3, 5, Real(1, 2), Real(1, 2)), "a dictionary of 3 to 5 invented chips"),
        (Sheets(2, 4, METERS, METERS), "the data sheets of 2 to 4 invented chips"),
    ],
)
def test_a_range_is_described_in_words(values, words):
    assert str(values) == words


# --- the digest -----------------------------------------------------------------------------------


def test_the_digest_covers_everything_that_affects_grades():
    decisive = {path for _, path in exercises.decisive(NAME)}
    assert {ROOT / "exercises" / NAME / f"{NAME}.{kind}" for kind in ("ipynb", "py")} <= decisive
    for folder in ("grading", "kit/roofkit/check", "rooflib"):
        for kind in ("py", "toml", "j2"):
            assert set((ROOT / folder).rglob(f"*.{kind}")) <= decisive
    assert ROOT / "rooflib" / "hardware.toml" in decisive
    assert not {path for path in decisive if "__pycache__" in path.parts}
    assert not {
        path for path in decisive if "exercises" in path.parts[:-1] and NAME not in path.parts
    }


def test_the_digest_covers_the_words_of_feedback_in_each_language():
    labels = [label for label, _ in exercises.decisive(NAME)]
    for name in ("checks", "grading"):
        assert f"locale/zh_CN/LC_MESSAGES/{name}.po" in labels
    assert sum(label.startswith("locale") for label in labels) == 2 * len(languages())
    assert {"words.py", "notebook_language.py"} <= set(labels)
    assert len(set(labels)) == len(labels)
    assert not any(str(ROOT) in label for label in labels), "a course may move"


def test_exercises_are_listed_in_the_order_of_the_course(tmp_path, monkeypatch):
    titles = [exercises.source(name).cells[0].source.split("\n")[0] for name in exercises.names()]
    assert [re.search(r"\d+", title)[0] for title in titles] == [
        str(number) for number in range(1, len(titles) + 1)
    ]
    shutil.copytree(ROOT / "exercises" / NAME, tmp_path / NAME)
    (tmp_path / "__pycache__").mkdir()
    monkeypatch.setattr(exercises, "FOLDER", tmp_path)
    assert exercises.names() == [NAME]


def test_an_invalid_answer_of_the_reference_solution_is_an_error():
    one = replace(exercises.load(NAME).parts[0], kind="names")
    with pytest.raises(ValueError, match=f"{NAME}, {one.key}: the reference not-names"):
        exercises.expected(NAME, one, one.cases[0])


def test_the_digest_depends_on_file_names_and_contents(tmp_path, monkeypatch):
    first, second = tmp_path / "first", tmp_path / "second"

    def digest(one, other, name="second"):
        first.write_bytes(one)
        second.write_bytes(other)
        files = [("first", first), (name, second)]
        monkeypatch.setattr(exercises, "decisive", lambda _: files)
        return exercises.digest(NAME)

    contents = [(b"a", b"b"), (b"a", b"c"), (b"c", b"b"), (b"ab", b""), (b"", b"ab")]
    assert len({digest(*pair) for pair in contents} | {digest(b"a", b"b", "third")}) == 6
    assert digest(b"a", b"b") == digest(b"a", b"b")
