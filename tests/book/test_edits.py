"""After every edit of a cell, no block of prose says anything false.

Each test changes literals in a page's visible cells: every chip, model and data type for another,
and sizes, rates and lists for larger, smaller, longer and shorter ones. It runs the page with the
page's own machinery and checks what each block would show. By default it draws some of the edits of
each page; `pytest -m "long or not long" tests/book/test_edits.py` makes all of them.
"""

import json
import multiprocessing
import random
import resource
import tomllib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict

import matplotlib
import matplotlib.pyplot  # imported here so that forks have it
import pytest
from edited_pages import (
    Claim,
    EditedPage,
    Tally,
    check,
    edits,
    false_as_printed,
    number,
    unclaimed,
    unused,
)
from repository import HEADER, ROOT
from series import in_part

PAGES = [
    path.relative_to(ROOT).with_suffix("").as_posix()
    for path in [
        ROOT / "index.md",
        *sorted(ROOT.glob("chapters/*.md")),
        *sorted(ROOT.glob("exercises/*/*.md")),
    ]
    if "{code-cell}" in path.read_text(encoding="utf-8")
]
CLAIMS = [
    Claim(entry["page"], entry["says"], tuple(entry["holds"]))
    for entry in tomllib.loads((ROOT / "tests/book/claims.toml").read_text(encoding="utf-8")).get(
        "claim", []
    )
]
DRAWN = 3  # random edits of each page in a short run
MAX_BYTES = 4 * 2**30  # memory limit, since an edit may ask for an array of any size


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    matplotlib.use("agg")


def checked(name: str, count: int | None) -> Tally:
    page = EditedPage(name)
    made = page.edits
    if count is not None and count < len(made):
        made = random.Random(name).sample(made, count)
    return check(page, made, CLAIMS)


def in_a_process(name: str, count: int | None) -> Tally:
    """Check edits of a page in a forked process with a memory limit."""
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, fork, limit_memory) as pool:
        return pool.submit(checked, name, count).result()


def report(name: str, tally: Tally) -> None:
    counts = {key: value for key, value in asdict(tally).items() if key != "problems"}
    print(name, json.dumps(counts))
    assert not tally.problems, "\n".join(tally.problems[:20])


@pytest.mark.parametrize("name", in_part(PAGES))
def test_a_random_sample_of_cell_edits_makes_no_prose_false(name: str) -> None:
    report(name, in_a_process(name, DRAWN))


@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_no_edit_of_a_cell_makes_prose_false(name: str) -> None:
    report(name, in_a_process(name, None))


def statements() -> tuple[list[str], list[str]]:
    pages = [EditedPage(name) for name in PAGES]
    missing = [problem for page in pages for problem in unclaimed(page, CLAIMS)]
    false = [problem for page in pages for problem in false_as_printed(page, CLAIMS)]
    return missing, [*unused(pages, CLAIMS), *false]


def test_prose_with_a_while_role_and_a_comparison_has_a_claim() -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork"), limit_memory) as pool:
        missing, stray = pool.submit(statements).result()
    assert not missing, "\n\n".join(missing)
    assert not stray, "claims.toml: " + "\n".join(stray)


# ---- the checks themselves, on a small page

CELL = "\n```{code-cell} ipython3\n%s\n```\n\n"
START = HEADER + CELL % "import rooflib as rl" + CELL


def page_of(cell: str, text: str) -> EditedPage:
    return EditedPage("page", START % cell + text + "\n")


def problems(cell: str, text: str, *holds: str) -> list[str]:
    page = page_of(cell, text)
    claims = [Claim("page", "", holds)] if holds else []
    return check(page, page.edits, claims).problems


H100 = 'chip = rl.chip("H100 SXM")'


def test_prose_without_a_while_role_is_never_updated_after_an_edit() -> None:
    page = page_of("n = 4", "At 4 it is {eval}`n`, more than three.")
    tally = check(page, page.edits, [])
    assert tally.edits == tally.as_printed == len(page.edits) > 5
    assert tally.following == 0
    assert tally.problems == []


def test_a_comparison_in_words_that_becomes_false_is_found() -> None:
    text = "{while}`%s` It is {eval}`n`, more than two."
    assert problems("n = 4", text % "n > 2", "number(shown[0]) > 2") == []
    found = problems("n = 4", text % "n > 0", "number(shown[0]) > 2")
    assert {problem.split(":")[0] for problem in found} == {"page, 4 → 1", "page, 4 → 2"}
    assert "its words claim `number(shown[0]) > 2`, which is false" in found[0]


def test_a_claim_that_cannot_be_evaluated_is_found() -> None:
    assert "NameError" in problems("n = 4", "{while}`n` All {eval}`n`.", "m > 2")[0]


def test_claims_are_checked_in_prose_without_values_too() -> None:
    text = "{while}`n < %s` They do not fit."
    assert problems("n = 4", text % 9, "n < 9") == []
    assert "`n < 9`, which is false" in problems("n = 4", text % 99, "n < 9")[0]


def test_a_chip_name_that_no_longer_applies_is_found() -> None:
    text = "{while}`%s` An H100 has {eval}`chip.name`."
    assert problems(H100, text % 'chip.name == "H100 SXM"') == []
    found = problems(H100, text % "True")
    assert any("it says H100 and is computed with another" in problem for problem in found)
    # If a claim compares the chip's name, the name in the text isn't checked separately.
    claim = "chip.name == 'H100 SXM'"
    assert "its words claim" in problems(H100, text % "True", claim)[0]
    assert problems(H100, text % "chip.name == 'H100 SXM'", claim) == []
    live = "{while}`True` This chip, {eval}`chip.name`, has {eval}`rl.text(chip.capacity)`."
    assert problems(H100, live) == []


def test_a_plural_after_a_computed_1_is_found() -> None:
    found = problems("n = 4", "{while}`True` On {eval}`n` chips.")
    assert ["it says “1 chips”" in problem for problem in found] == [True]
    assert problems("n = 4", "{while}`n > 1` On {eval}`n` chips.") == []


def test_prose_keeps_its_built_text_if_one_of_its_values_raises_an_error() -> None:
    page = page_of("n = [4, 5]", "{while}`True` The second is {eval}`n[1]`.")
    tally = check(page, page.edits, [])
    assert tally.as_printed
    assert tally.problems == []


def test_prose_below_a_failing_cell_is_not_counted_as_checked() -> None:
    page = page_of("n = 4\nassert n > 2", "{while}`True` {eval}`n` here.")
    tally = check(page, page.edits, [])
    # These edits fail: n to 1 or 2; the 2 in the assert to 4, 20 or 2000.
    assert tally.failed_cells == 5
    assert tally.blocks == len(page.edits) - 5


def test_words_without_a_claim_are_reported_with_the_entry_to_add() -> None:
    page = page_of(H100, "{while}`chip` One H100 is faster.\n\n{while}`chip` It is.\n\nFaster.")
    (found,) = unclaimed(page, [])
    for expected in (
        "“One”",
        "“faster”",
        "“H100”",
        'page = "page"',
        'says = "One H100 is faster."',
    ):
        assert expected in found
    claim = Claim("page", "H100 is faster", ("True",))
    assert list(unclaimed(page, [claim])) == []
    assert list(unused([page], [claim])) == []
    assert len(list(unused([page], [Claim("page", "Faster.", ("True",))]))) == 1


def test_a_claim_that_is_false_on_the_built_page_is_found() -> None:
    page = page_of("n = 4", "{while}`n` More than {eval}`n`.")
    assert list(false_as_printed(page, [Claim("page", "More", ("n > 3",))])) == []
    (found,) = false_as_printed(page, [Claim("page", "More", ("n > 3", "n > 4"))])
    assert "`n > 4`, which is false" in found


def test_edits_replace_chips_data_types_sizes_and_lists() -> None:
    source = (
        'c, t, n, many = rl.chip("H100 SXM"), "bf16", 4096, [1, 2, 8]\nprint(rl.text(n, digits=3))'
    )
    made = [(edit.old, edit.new) for edit in edits(0, source)]
    assert ("4096", "1") in made
    assert ("4096", "4096000") in made
    assert ('"bf16"', "'int8'") in made
    assert ("[1, 2, 8]", "[1, 2]") in made
    assert ("[1, 2, 8]", "[1]") in made
    assert any(len(json.loads(new)) == 4 for old, new in made if old.startswith("["))
    assert len([new for old, new in made if old == '"H100 SXM"']) >= 6
    assert not [new for old, new in made if old == "3"]
    for edit in edits(0, source):
        compile(edit.apply(source), "cell", "exec")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,207", 1207),
        ("240.5 FLOP/byte", 240.5),
        ("3.2 ms", 0.0032),
        ("about 85.5 GB", 85.5e9),
        ("14%", 0.14),
        ("1.5×10⁻³ s", 0.0015),
        ("7 TFLOP/s", 7e12),
        ("12 times", 12),
    ],
)
def test_number_parses_displayed_numbers_with_units(text: str, value: float) -> None:
    assert number(text) == pytest.approx(value)
