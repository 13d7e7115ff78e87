"""A reader runs the Python of a chapter's page: errors, endless loops, two tabs, another day."""

import re
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Route, expect
from reader import EDITOR, SECONDS, Reader
from repository import ROOT
from site_browser import axe, put_theme

PAGE = "chapters/introduction"
SPLIT = "share = rl.split"  # in another cell than the first chip
CHIP = 'rl.chip("H100 SXM")'
STEP = 'step = rl.Quantity(50e-3, "s")'
FOR_BELOW = "many = [[1], np.ones(1), {}]\ndef inverse(x):\n    return 1 / x"
OTHER_CHIP = 'rl.chip("A100 80GB SXM")'
THIS_CELL = {"en": "this cell", "zh": "这个单元格"}
OWN = "compute 5 TFLOP"  # as a line of the page, which is translated there, but the reader's own
OWN_TABLE = """for n in (7, 10**6, np.array([7, 10**6])):
    print(rl.matmul(3, n, n).on("H100 NVL").table)
display(rl.matmul(3, 7, 7).on("H100 NVL").table)"""
CHINESE_PLOT = "import matplotlib.pyplot as plt\nplt.figure().suptitle('批大小')"
WARNS_AND_SHOWS = """import warnings
from roofkit import figures
warnings.warn('take care')
display(figures.tiles())"""
ENGLISH = ("Line", "cell", "error (", "a page", "not run", "Traceback", "and so on")


PACKAGES = ("rooflib", "kit/roofkit", "kit/roofmeter")
# Code, and what only the build and type checkers read.
NO_DATA = {".py", ".pyi", ".pyc", ".js", ".css", ".typed", ".po", ".mo", ".md"}


def test_pages_load_all_data_that_the_packages_read(site: Path) -> None:
    (archive,) = site.glob("_static/python/*/course.zip")
    files = (path for name in PACKAGES for path in (ROOT / name).rglob("*.*") if path.is_file())
    needed = {p.relative_to(ROOT).as_posix() for p in files if p.suffix not in NO_DATA}
    assert needed - {*ZipFile(archive).namelist()} == set()


# Keeps what the status bar says.
SAID = """() => {
  window.said = [];
  const keep = () => said.push(document.querySelector(".python-words")?.textContent ?? "");
  new MutationObserver(keep).observe(document.body, { childList: true, subtree: true });
}"""


@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.long), "zh"])
def test_an_error_names_its_line_and_cells_below_say_they_were_not_run(
    reader: Reader, language: str
) -> None:
    reader.open(PAGE, language)
    built, outputs = reader.places(), reader.outputs()
    reader.run()
    assert (reader.places(), reader.outputs()) == (built, outputs)
    said = reader.edit(SPLIT, f"print('{OWN}')\nx = 1 / 0\n{SPLIT}")
    shown = reader.output("x = 1 / 0")
    assert "ZeroDivisionError" in said
    assert OWN in shown
    lines = [line for line in shown.splitlines() if line.strip()]
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert any("3" in line and THIS_CELL[language] in line for line in lines)
    assert ".py" not in shown
    # Values and outputs below keep what was built, and are marked.
    assert [place[0] for place in reader.places()] == [place[0] for place in built]
    for what, places in reader.kept_below("x = 1 / 0").items():
        assert {is_below for is_below, _ in places} == {True, False}, what
        assert all(is_below == is_marked for is_below, is_marked in places), what
    with reader.a_run():
        reader.page.locator(".run-cell").last.click()
    # The cell that failed is named, not the one that was pressed.
    assert reader.written(reader.cell(SPLIT).locator(EDITOR)).splitlines()[0] in reader.bar
    asked = reader.edit("x = 1 / 0", "x = input('Who?')")
    assert "ZeroDivisionError" not in asked
    question = reader.output("x = input")
    if language == "zh":
        for words in (said, asked, *shown.splitlines()[:-1], question.splitlines()[-1]):
            plain = words.replace("ZeroDivisionError: division by zero", "").replace(OWN, "")
            assert not [one for one in ENGLISH if one in plain], plain
        # A table with a reader's own numbers, which no page has; and letters that no font here has.
        reader.edit("x = input('Who?')", f"{CHINESE_PLOT}\n{OWN_TABLE}")
        shown = reader.output(OWN_TABLE)
        assert "HBM" in shown
        assert re.findall(r"[a-z]{2,} [a-z]{2,}|\b(?:on|of|to)\b|Warning", shown) == []
        reader.edit(f"{CHINESE_PLOT}\n{OWN_TABLE}", "x = input('Who?')")
        # A value with words, which a text shows.
        reader.edit(STEP, f"{STEP}\nslower = 'compute'")
        (changed,) = (text for text, is_marked, _ in reader.places() if is_marked)
        assert re.search("→ [\u4e00-\u9fff]+$", changed)
        reader.edit("\nslower = 'compute'", "")
    warned = reader.edit("x = input('Who?')", WARNS_AND_SHOWS)
    assert warned.startswith(("Done.", "完成"))
    shown = reader.output("warnings.warn")
    assert "take care" in shown
    assert ".py" not in shown
    expect(reader.figure("tiles")).to_have_attribute("data-state", "live")
    reader.reset()
    assert (reader.places(), reader.outputs()) == (built, outputs)
    assert not reader.stale()
    # What a cell changes in place, its next run finds as it was.
    reader.edit(CHIP, f"{CHIP}\n{FOR_BELOW}")
    reader.edit(SPLIT, f"many[0].append(2); many[1] += 1; many[2][3] = 4; print(many)\n{SPLIT}")
    for again in ("print(many) ", "inverse(0)"):
        assert reader.output(SPLIT).splitlines()[0] == "[[1, 2], array([2.]), {3: 4}]"
        reader.edit("print(many)", again)
    # An error in a function names both lines.
    shown = reader.output("inverse(0)").splitlines()
    assert len(shown) == 5
    for line, code, cell in zip(shown[::2], shown[1::2], (SPLIT, FOR_BELOW), strict=False):
        number = int(re.findall(r"\d+", line)[0])
        written = reader.written(reader.cell(cell).locator(EDITOR)).splitlines()
        assert written[number - 1].strip() == code.strip()
    reader.reset()


def test_what_does_not_load_is_named_a_second_press_waits_for_the_first_and_stop_ends_a_loop(
    reader: Reader,
) -> None:
    """On one page, one after another: each leaves it so that the next press works."""
    reader.open(PAGE)
    built = reader.places()
    reader.page.route("**/course.zip", lambda _: None)  # it doesn't come
    reader.page.route("**/*.steps.json", lambda route: route.fulfill(status=404))
    reader.page.locator(".run-cell").first.click()
    expect(reader.page.get_by_text("404").first).to_be_visible()
    reader.page.unroute("**/*.steps.json")
    reader.page.locator(".run-cell").first.click()
    with reader.a_run():
        reader.press("Cancel")
    reader.page.unroute("**/course.zip")
    reader.page.route("**/*.wasm", lambda route: route.abort())
    assert "Failed to fetch" in reader.run()
    reader.page.unroute("**/*.wasm")
    reader.traffic.clear()
    assert reader.run().startswith("Done.")
    editors = reader.page.locator(EDITOR)
    for place, keys in ((0, "Shift+Enter"), (1, "Control+Enter")):
        with reader.a_run():
            editors.nth(place).press(keys)
        expect(editors.nth(1)).to_be_focused()
    with reader.a_run():
        buttons = reader.page.locator(".run-cell")
        buttons.last.click()
        buttons.first.click()
    expect(reader.page.locator(".python-words")).to_contain_text("Done.", timeout=1000 * SECONDS)
    assert reader.places() == built
    put_theme(reader.page, "dark")
    assert axe(reader.page, ".code-editor") == []
    put_theme(reader.page, "light")
    with reader.a_run():
        reader.start(CHIP, f"{CHIP}\nwhile True: pass")
        reader.page.keyboard.press("Escape")
    assert "Stop" in reader.bar
    assert reader.page.get_by_role("button", name="Stop", exact=True).count() == 0
    assert reader.edit("\nwhile True: pass", "").startswith("Done.")
    assert not reader.stale()
    assert reader.places() == built


def test_edits_are_kept_between_tabs_days_and_editions_and_are_put_back(reader: Reader) -> None:
    """A kept edit says so, and runs with the page; two tabs don't lose each other's."""
    reader.open(PAGE)
    built = reader.places()
    size = int(re.findall(r"\d+", reader.page.locator(".run-size").inner_text())[0])
    reader.page.evaluate(SAID)
    reader.run()
    said = [re.findall(r"\d+", words) for words in reader.page.evaluate("window.said")]
    received, total = [map(int, numbers) for numbers in said if len(numbers) == 2][-1]
    assert received == total
    assert abs(total - size) <= 1
    other = reader.tab().open(PAGE)
    reader.edit(CHIP, OTHER_CHIP)
    expect(other.code().filter(has_text=OTHER_CHIP)).to_have_count(1)
    changed = reader.places()
    assert changed != built
    other.run()
    other.edit(SPLIT, f"mine = 2\n{SPLIT}")
    # Another day. Python starts at once, since it has run in this tab.
    with reader.page.expect_worker():
        reader.open(PAGE)
    assert reader.page.locator(".run-size").count() == 0
    for code in (OTHER_CHIP, "mine = 2"):
        expect(reader.code().filter(has_text=code)).to_have_count(1)
    assert reader.places() == built
    back = reader.page.get_by_role("button", name="Put it back")
    expect(back).to_have_count(2)
    reader.run()
    assert back.count() == 0
    assert reader.places() == changed
    reader.reset()
    assert reader.places() == built
    again = reader.tab().open(PAGE)
    expect(again.code().filter(has_text=OTHER_CHIP)).to_have_count(0)
    # In a new edition a cell has changed. The edit of the old one is shown, and not run in place of
    # the new one; an edit of another cell is as it was.
    reader.edit(SPLIT, f"mine = 2\n{SPLIT}")
    reader.edit(CHIP, OTHER_CHIP)
    reader.forget_python()
    for file in (f"{PAGE}.html", f"{PAGE}.steps.json"):
        reader.page.route(f"**/{file}", new_edition)
    reader.open(PAGE)
    kept = reader.page.get_by_text("mine = 2")
    expect(kept.first).to_be_attached()
    assert reader.page.locator("div.cell").filter(has=kept).first.inner_text().strip()
    expect(reader.code().filter(has_text=OTHER_CHIP)).to_have_count(1)
    expect(reader.code().filter(has_text="mine = 2")).to_have_count(0)
    kept.first.locator("xpath=ancestor::details/summary").click()
    reader.press("Drop it")
    expect(kept).to_have_count(0)
    reader.open(PAGE)
    reader.traffic.clear()  # leaving a page so soon ends its requests
    expect(kept).to_have_count(0)
    expect(reader.code().filter(has_text=OTHER_CHIP)).to_have_count(1)
    reader.page.unroute_all()
    # One cell is put back before anything is run.
    for kept in (1, 0):
        reader.open(PAGE)
        expect(reader.code().filter(has_text=OTHER_CHIP)).to_have_count(kept)
        expect(back).to_have_count(kept)
        if kept:
            edited = reader.page.locator("div.cell").filter(has_text=OTHER_CHIP)
            edited.get_by_role("button", name="Put it back").click()
            expect(back).to_have_count(0)  # at once, and after the next visit
            expect(reader.code().filter(has_text=OTHER_CHIP)).to_have_count(0)
    reader.traffic.clear()  # leaving a page so soon ends its requests


def new_edition(route: Route) -> None:
    """Answer with a file of a page in which another cell was built."""
    answer = route.fetch()
    body = answer.text()
    assert SPLIT in body
    route.fulfill(response=answer, body=body.replace(SPLIT, SPLIT.replace("share", "part")))
