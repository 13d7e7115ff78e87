"""A reader runs a chapter's cells and edits them: the page gives what ordinary Python gives."""

import random
import re
from collections.abc import Iterator
from itertools import zip_longest

import matplotlib as mpl
import pytest
from ordinary_python import Page, cells, chapters, edited, pieces, run, words
from reader import Reader
from series import in_part

import rooflib as rl

CHIPS = [chip.name for chip in rl.chips(hidden=True)]
CHIP = re.compile("|".join(f'"{re.escape(name)}"' for name in sorted(CHIPS, reverse=True)))
SIZE, TYPE = re.compile(r"\b[A-Z]=\d+\b"), re.compile(r'\b(x|w|kv)="\w+"')
Edit = tuple[str, str]  # old and new code
SOME = ("chapters/attention",)  # all kinds of cells, values and drawings; large whole numbers


def edits(name: str) -> list[Edit]:
    """Return lines of a chapter, each with another chip or type, or with twice a size."""
    draw, found = random.Random(name), []
    code = [cell.code for _, cell in cells(pieces(name)) if not cell.hidden]
    for line in "\n".join(code).splitlines():
        found.append((line, CHIP.sub(f'"{draw.choice(CHIPS)}"', line, count=1)))
        found.append((line, SIZE.sub(r"\g<0> * 2", line, count=1)))
        found.append((line, TYPE.sub(r'\1="int8"', line, count=1)))
    draw.shuffle(found)
    return [(old, new) for old, new in found if new != old]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in SOME else pytest.mark.long) for name in chapters()],
)
def test_run_gives_what_was_built_and_an_edit_what_python_gives(reader: Reader, name: str) -> None:
    reader.open(name)
    built, outputs = reader.places(), reader.outputs()
    drawn, in_python = reader.drawings(), run(pieces(name))
    labels = reader.drawings("ariaLabel")
    assert reader.run().startswith("Done.")
    assert (reader.places(), reader.outputs()) == (built, outputs)
    wrong = []
    for old, new in edits(name)[:2]:
        said = reader.edit(old, new)
        expected = run(edited(pieces(name), old, new))
        if said.startswith("Done.") != (expected.error == ""):
            wrong.append(f"{new}: {said}, in Python {expected.error!r}")
        elif not expected.error:
            wrong += [f"{new}: {one}" for one in unlike(reader, built, outputs, expected)]
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


# ---- without a browser


@pytest.mark.parametrize("name", in_part(chapters()))
def test_another_chip_in_a_cell_gives_neither_errors_nor_warnings(name: str) -> None:
    """A chip without a peak in bf16, or without a link, may be refused, if the reason is said."""
    mpl.use("agg")
    wrong = []
    others = [pair for pair in edits(name) if CHIP.findall(pair[0]) != CHIP.findall(pair[1])]
    for old, new in others[:3]:
        chip, page = rl.chip(CHIP.findall(new)[0].strip('"')), run(edited(pieces(name), old, new))
        is_refused = "bf16" in page.error and "bf16" not in chip
        is_refused |= "link" in page.error and not chip.links
        if page.warned or (page.error and not is_refused):
            wrong.append(f"{new}: {page.error} {page.warned}")
    assert wrong == []
