"""A reader runs a chapter's cells and edits them: the page gives what ordinary Python gives."""

import random
import re
import tomllib
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path

import matplotlib as mpl
import pytest
from ordinary_python import Cell, Page, chapters, edited, pieces, replaced, run, words
from reader import Reader
from series import in_part

import rooflib as rl

EDITS = tomllib.loads(Path(__file__).with_name("edits.toml").read_text(encoding="utf-8"))
CHIPS = [chip.name for chip in rl.chips(hidden=True)]
CHIP = re.compile("|".join(f'"{re.escape(name)}"' for name in sorted(CHIPS, reverse=True)))
Edit = tuple[str, str]  # old and new code
SOME = ("attention",)  # all kinds of cells, values and drawings; large whole numbers


def rows() -> Iterator[object]:
    """Yield a chapter with its first edit, and, for long runs, all with all others."""
    for name in chapters():
        page = name.removeprefix("chapters/")
        of_page = EDITS.get(page, [])
        yield pytest.param(
            name, of_page[:1], id=name, marks=() if page in SOME else pytest.mark.long
        )
        yield pytest.param(name, of_page[1:], id=f"{name}-all", marks=pytest.mark.long)


@pytest.mark.parametrize(("name", "edits"), list(rows()))
def test_run_gives_what_was_built_and_an_edit_what_python_gives(
    reader: Reader, name: str, edits: list[Edit]
) -> None:
    reader.open(name)
    built, outputs, sides = reader.places(), reader.outputs(), reader.sides()
    drawn, in_python = reader.drawings(), run(pieces(name))
    labels = reader.drawings("ariaLabel")
    assert reader.run().startswith("Done.")
    assert (reader.places(), reader.outputs()) == (built, outputs)
    wrong = []
    for old, new in edits:
        said = reader.edit(old, new)
        expected = run(edited(pieces(name), old, new))
        if said.startswith("Done.") != (expected.error == ""):
            wrong.append(f"{new}: {said}, in Python {expected.error!r}")
        elif not expected.error:
            wrong += [f"{new}: {one}" for one in unlike(reader, built, outputs, expected)]
            wrong += [] if reader.sides() == sides else [f"{new}: sides {reader.sides()}"]
            changed = [was != now for was, now in zip_longest(drawn, reader.drawings())]
            should = [was != now for was, now in zip_longest(in_python.drawings, expected.drawings)]
            wrong += [] if changed == should else [f"{new}: drawings {changed}, not {should}"]
            for one, was, now in zip(changed, labels, reader.drawings("ariaLabel"), strict=True):
                # The picture's description is of the printed one, and says so.
                wrong += [] if was in now and one == (was != now) else [f"{new}: label {now}"]
            counted = re.match(r"Done\. (\d+)", said)
            marked = sum(is_marked for _, is_marked, _ in reader.places())
            wrong += [] if int(counted[1] if counted else 0) == marked else [f"{new}: {said}"]
        reader.reset()
        assert (reader.places(), reader.outputs()) == (built, outputs)
    assert wrong == []


def unlike(reader: Reader, built: list, outputs: list[str], expected: Page) -> Iterator[str]:
    """Yield where a page doesn't show what Python computes, or shows it without a mark."""
    for (was, *_), place, now in zip_longest(built, reader.places(), expected.values):
        text, marked, follows = place
        is_new = follows and now != was
        expected_text = f"{was} → {now or 'can’t be computed'}" if is_new else was
        if (text, marked) != (expected_text, is_new):
            yield f"{was} is shown as {text}, {marked=}, in Python it is {now}"
    kept = reader.outputs("details.as-printed")
    for was, output, now, printed in zip_longest(outputs, reader.outputs(), expected.outputs, kept):
        if words(output) != words(now):
            yield f"a cell shows {output!r} (before: {was!r}), in Python it is {now!r}"
        if printed != was and (printed or output != was):
            yield f"a cell keeps {printed!r} as printed, which was {was!r}"


@pytest.mark.long  # test_python.py has a reader's own table on a Chinese page
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("chapters/intensity", 'v5p = rl.chip("TPU v5p")', 'v5p = rl.chip("B200")'),
        ("chapters/roofline", '"TPU v5e", "TPU v6e", 400', '"MI300X", "L4", 400'),
    ],
)
def test_what_another_chip_gives_has_no_english_words_on_a_chinese_page(
    reader: Reader, name: str, old: str, new: str
) -> None:
    """Except those that the page had when it was built, such as `softmax`."""
    reader.open(name, "zh")
    built = reader.outputs()
    reader.run()
    reader.edit(old, new)
    outputs = reader.outputs()
    assert any(new.split('"')[1] in output for output in outputs)
    assert english(outputs) - english(built) == set()


def english(outputs: list[str]) -> set[str]:
    return set(re.findall("[a-z]{3,}", " ".join(outputs)))


# ---- without a browser: each edit of a kind, in each chapter


def has_peak(name: str) -> bool:
    """Return whether a peak in bf16, in which the course computes, is published for a chip."""
    try:
        return bool(rl.chip(name)["bf16"])
    except ValueError:
        return False


def other_chips(share: float, name: str) -> Callable[[Cell], Iterator[Edit]]:
    """Return a function of a cell: put other chips in the place of each, all or a random share."""
    draw = random.Random(name)

    def edits(cell: Cell) -> Iterator[Edit]:
        for old in dict.fromkeys(CHIP.findall(cell.code)):
            others = [f'"{chip}"' for chip in CHIPS if f'"{chip}"' != old]
            yield from ((old, new) for new in others if draw.random() < share)

    return edits


@pytest.mark.parametrize("share", [0.02, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", in_part(chapters()))
def test_another_chip_in_a_cell_gives_neither_errors_nor_warnings(name: str, share: float) -> None:
    """A chip without a peak in bf16, or without a link, may be refused, if the reason is said."""
    mpl.use("agg")
    wrong = []
    for old, new, page in replaced(name, other_chips(share, name)):
        chip = new.strip('"')
        is_refused = "bf16" in page.error and not has_peak(chip)
        is_refused |= "link" in page.error and not rl.chip(chip).links
        if page.warned or (page.error and not is_refused):
            wrong.append(f"{old} → {new}: {page.error} {page.warned}")
    assert wrong == []
