"""A reader runs the Python of a chapter's page: errors, endless loops, two tabs, another day."""

import pytest
from playwright.sync_api import Route, expect
from reader import SECONDS, Reader

PAGE = "chapters/time"
FIRST = "square = rl.matmul"  # in the page's first cells
CHIP = 'rl.chip("H100 SXM")'
ENGLISH = {
    "en": ("Line 2", "cannot ask"),
    "zh": ("Line", "cell", "error (", "a page", "not run", "Traceback", "and so on"),
}


@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.long), "zh"])
def test_an_error_names_its_line_and_cells_below_say_they_were_not_run(
    reader: Reader, language: str
) -> None:
    reader.open(PAGE, language)
    built, outputs = reader.places(), reader.outputs()
    reader.run()
    assert (reader.places(), reader.outputs()) == (built, outputs)
    said = reader.edit(FIRST, f"print('so far')\nx = 1 / 0\n{FIRST}")
    shown = reader.output("x = 1 / 0")
    assert "ZeroDivisionError" in said
    assert "so far" in shown
    lines = [line for line in shown.splitlines() if line.strip()]
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert any("2" in line for line in lines)
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
            assert not [one for one in ENGLISH["zh"] if one in plain], plain
    warned = reader.edit("x = input('Who?')", "import warnings\nwarnings.warn('take care')")
    assert warned.startswith(("Done.", "完成"))
    shown = reader.output("warnings.warn")
    assert "take care" in shown
    assert ".py" not in shown
    reader.reset()
    assert (reader.places(), reader.outputs()) == (built, outputs)
    assert not reader.stale()


def test_stop_ends_an_endless_loop_and_the_next_run_works(reader: Reader) -> None:
    reader.open(PAGE)
    reader.run()
    with reader.a_run():
        reader.start(FIRST, f"while True: pass\n{FIRST}")
        reader.press("Stop")
    assert "Stop" in reader.bar
    assert reader.page.get_by_role("button", name="Stop", exact=True).count() == 0
    assert reader.edit("while True: pass\n", "").startswith("Done.")
    assert not reader.stale()


def test_a_second_press_replaces_the_first(reader: Reader) -> None:
    reader.open("chapters/introduction")
    built = reader.places()
    reader.run()
    with reader.a_run():
        buttons = reader.page.locator(".run-cell")
        buttons.last.click()
        buttons.first.click()
    expect(reader.page.locator(".python-words")).to_contain_text("Done.", timeout=1000 * SECONDS)
    assert reader.places() == built


def test_two_tabs_of_a_chapter_keep_each_others_edits(reader: Reader) -> None:
    reader.open(PAGE)
    reader.run()
    other = reader.tab().open(PAGE)
    other.run()
    reader.edit(CHIP, 'rl.chip("A100 80GB SXM")')
    other.edit(FIRST, f"mine = 2\n{FIRST}")
    later = reader.tab().open(PAGE)
    for code in ('rl.chip("A100 80GB SXM")', "mine = 2"):
        expect(later.code().filter(has_text=code)).to_have_count(1)


def test_a_kept_edit_says_so_and_runs_with_the_page(reader: Reader) -> None:
    reader.open(PAGE)
    built = reader.places()
    reader.run()
    reader.edit(CHIP, 'rl.chip("A100 80GB SXM")')
    changed = reader.places()
    assert changed != built
    reader.open(PAGE)
    expect(reader.code().filter(has_text="A100 80GB SXM")).to_have_count(1)
    assert reader.places() == built
    reader.run()
    assert reader.places() == changed
    reader.reset()
    reader.open(PAGE)
    expect(reader.code().filter(has_text="A100 80GB SXM")).to_have_count(0)
    assert reader.places() == built


def test_a_kept_edit_of_a_cell_that_changed_since_says_so(reader: Reader) -> None:
    """The page is served with another cell, as a new edition has it."""
    reader.open(PAGE)
    reader.run()
    reader.edit(FIRST, f"mine = 2\n{FIRST}")
    reader.edit(CHIP, 'rl.chip("A100 80GB SXM")')

    def another(route: Route) -> None:
        answer = route.fetch()
        body = answer.text()
        assert "square" in body
        route.fulfill(response=answer, body=body.replace(">square<", ">cube<"))

    reader.page.route(f"**/{PAGE}.html", another)
    reader.open(PAGE)
    kept = reader.page.get_by_text("mine = 2")
    expect(kept.first).to_be_attached()
    cell = reader.page.locator("div.cell").filter(has=kept).first
    assert cell.inner_text().strip()
    expect(reader.code().filter(has_text="A100 80GB SXM")).to_have_count(1)
    # It's not run in place of the new cell, and an edit of another cell doesn't lose it.
    expect(reader.code().filter(has_text="mine = 2")).to_have_count(0)
    reader.page.unroute(f"**/{PAGE}.html")


def test_what_does_not_load_is_named_and_the_next_press_works(reader: Reader) -> None:
    reader.open("chapters/introduction")
    reader.page.route("**/*.steps.json", lambda route: route.fulfill(status=404))
    reader.page.locator(".run-cell").first.click()
    expect(reader.page.get_by_text("404").first).to_be_visible()
    reader.page.unroute("**/*.steps.json")
    reader.traffic.clear()
    assert reader.run().startswith("Done.")


def test_an_edited_figure_is_drawn_anew_and_says_so(reader: Reader) -> None:
    reader.open("chapters/roofline")
    drawing = reader.page.locator(".cell_output svg.figure").first
    before, name = drawing.inner_html(), drawing.get_attribute("aria-label") or ""
    reader.run()
    reader.edit("B=64, D=4096", "B=32, D=2048")
    drawings = reader.page.locator(".cell_output svg.figure")
    anew = [
        one for one in drawings.all() if (one.get_attribute("aria-label") or "") not in ("", name)
    ]
    assert anew
    assert before
