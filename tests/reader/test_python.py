"""A reader runs the Python of a chapter's page: errors, endless loops, two tabs, another day."""

import pytest
from playwright.sync_api import Route, expect
from reader import SECONDS, Reader

PAGE = "chapters/introduction"
SPLIT = "share = rl.split"  # in another cell than the first chip
CHIP = 'rl.chip("H100 SXM")'
OTHER_CHIP = 'rl.chip("A100 80GB SXM")'
THIS_CELL = {"en": "this cell", "zh": "这个单元格"}
ENGLISH = ("Line", "cell", "error (", "a page", "not run", "Traceback", "and so on")


@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.long), "zh"])
def test_an_error_names_its_line_and_cells_below_say_they_were_not_run(
    reader: Reader, language: str
) -> None:
    reader.open(PAGE, language)
    built, outputs = reader.places(), reader.outputs()
    reader.run()
    assert (reader.places(), reader.outputs()) == (built, outputs)
    said = reader.edit(SPLIT, f"print('so far')\nx = 1 / 0\n{SPLIT}")
    shown = reader.output("x = 1 / 0")
    assert "ZeroDivisionError" in said
    assert "so far" in shown
    lines = [line for line in shown.splitlines() if line.strip()]
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert any("3" in line and THIS_CELL[language] in line for line in lines)
    assert ".py" not in shown
    # Values and outputs below keep what was built, and are marked.
    assert [place[0] for place in reader.places()] == [place[0] for place in built]
    assert reader.stale()
    asked = reader.edit("x = 1 / 0", "x = input('Who?')")
    assert "ZeroDivisionError" not in asked
    question = reader.output("x = input")
    if language == "zh":
        for words in (said, asked, *shown.splitlines()[:-1], question.splitlines()[-1]):
            plain = words.replace("ZeroDivisionError: division by zero", "").replace("so far", "")
            assert not [one for one in ENGLISH if one in plain], plain
    warned = reader.edit("x = input('Who?')", "import warnings\nwarnings.warn('take care')")
    assert warned.startswith(("Done.", "完成"))
    shown = reader.output("warnings.warn")
    assert "take care" in shown
    assert ".py" not in shown
    reader.reset()
    assert (reader.places(), reader.outputs()) == (built, outputs)
    assert not reader.stale()


def test_what_does_not_load_is_named_a_second_press_replaces_the_first_and_stop_ends_a_loop(
    reader: Reader,
) -> None:
    """On one page, one after another: each leaves it so that the next press works."""
    reader.open(PAGE)
    built = reader.places()
    reader.page.route("**/*.steps.json", lambda route: route.fulfill(status=404))
    reader.page.locator(".run-cell").first.click()
    expect(reader.page.get_by_text("404").first).to_be_visible()
    reader.page.unroute("**/*.steps.json")
    reader.traffic.clear()
    assert reader.run().startswith("Done.")
    with reader.a_run():
        buttons = reader.page.locator(".run-cell")
        buttons.last.click()
        buttons.first.click()
    expect(reader.page.locator(".python-words")).to_contain_text("Done.", timeout=1000 * SECONDS)
    assert reader.places() == built
    with reader.a_run():
        reader.start(CHIP, f"{CHIP}\nwhile True: pass")
        reader.press("Stop")
    assert "Stop" in reader.bar
    assert reader.page.get_by_role("button", name="Stop", exact=True).count() == 0
    assert reader.edit("\nwhile True: pass", "").startswith("Done.")
    assert not reader.stale()
    assert reader.places() == built


def test_edits_are_kept_between_tabs_days_and_editions_and_are_put_back(reader: Reader) -> None:
    """A kept edit says so, and runs with the page; two tabs don't lose each other's."""
    reader.open(PAGE)
    built = reader.places()
    reader.run()
    other = reader.tab().open(PAGE)
    reader.edit(CHIP, OTHER_CHIP)
    changed = reader.places()
    assert changed != built
    other.run()
    other.edit(SPLIT, f"mine = 2\n{SPLIT}")
    # Another day.
    reader.open(PAGE)
    for code in (OTHER_CHIP, "mine = 2"):
        expect(reader.code().filter(has_text=code)).to_have_count(1)
    assert reader.places() == built
    reader.run()
    assert reader.places() == changed
    reader.reset()
    assert reader.places() == built
    again = reader.tab().open(PAGE)
    expect(again.code().filter(has_text=OTHER_CHIP)).to_have_count(0)
    # In a new edition a cell has changed. The edit of the old one is shown, and not run in place of
    # the new one; an edit of another cell is as it was.
    reader.edit(SPLIT, f"mine = 2\n{SPLIT}")
    reader.edit(CHIP, OTHER_CHIP)
    reader.page.route(f"**/{PAGE}.html", new_edition)
    reader.open(PAGE)
    kept = reader.page.get_by_text("mine = 2")
    expect(kept.first).to_be_attached()
    assert reader.page.locator("div.cell").filter(has=kept).first.inner_text().strip()
    expect(reader.code().filter(has_text=OTHER_CHIP)).to_have_count(1)
    expect(reader.code().filter(has_text="mine = 2")).to_have_count(0)
    reader.page.unroute(f"**/{PAGE}.html")
    # One cell is put back before anything is run.
    for kept in (1, 0):
        reader.open(PAGE)
        expect(reader.code().filter(has_text=OTHER_CHIP)).to_have_count(kept)
        if kept:
            edited = reader.page.locator("div.cell").filter(has_text=OTHER_CHIP)
            edited.get_by_role("button", name="Put it back").click()
    reader.traffic.clear()  # leaving a page so soon ends its requests


def new_edition(route: Route) -> None:
    """Answer with a page in which another cell was built."""
    answer = route.fetch()
    body = answer.text()
    assert SPLIT in body
    route.fulfill(response=answer, body=body.replace(SPLIT, SPLIT.replace("share", "part")))
