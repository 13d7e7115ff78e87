"""An exercise on its page has the questions, checks and messages of its notebook."""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from classroom import cell, functions
from native_python import serving_native
from page_reader import (
    EDITOR,
    SLOW,
    a_run,
    answer_here,
    bar,
    checked,
    downloaded,
    field,
    press,
    said,
    section,
    write,
    written,
)
from playwright.sync_api import Browser, Locator, Page, expect
from pyodide_server import serving_pyodide
from site_browser import DESK, PHONE, SIDEWAYS, STICKING_OUT, axe, put_theme, put_width
from site_server import Server

from grading.release import exercises

EXERCISE = "int8-matmul"
PARTS = list(functions(EXERCISE))
OWN = ".own-cell"
CONTROLS = ".python-panel :is(button, progress):visible"
# Shortens the time limit of calls in a notebook's checks, whose messages don't depend on it.
SOON = "import functools, roofkit.check as c; c.limited = functools.partial(c.limited, 0.3, 60)"
ENDLESS = "def bytes_moved(B, D, F):\n    while True:\n        pass"
# Records the messages from the page's Python worker, so that a test can wait for a call that never
# ends.
LISTEN = """
window.heard = [];
window.Worker = class extends Worker {
  constructor(...all) {
    super(...all);
    this.addEventListener("message", ({ data }) => heard.push(data));
  }
};"""


@pytest.fixture(scope="module", params=["native", pytest.param("pyodide", marks=pytest.mark.long)])
def server(site: Path, below: str, request: pytest.FixtureRequest) -> Iterator[Server]:
    served = serving_native if request.param == "native" else serving_pyodide
    with served(site, below) as server:
        yield server


@pytest.fixture(scope="module")
def released(site: Path) -> dict[str, nbformat.NotebookNode]:
    folder = site.parent / "course" / "release"
    return {
        name: nbformat.read(folder / name / f"{name}.ipynb", as_version=4)
        for name in exercises.names()
    }


@pytest.fixture(scope="module")
def right() -> dict[str, str]:
    """Return the reference solution of each part."""
    return {
        part: str(cell(exercises.source(EXERCISE), f"{part}-solution").source) for part in PARTS
    }


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(accept_downloads=True, reduced_motion="reduce")
    context.set_default_timeout(SLOW)
    context.add_init_script(LISTEN)
    tab = context.new_page()
    tab.clock.install()  # a fake clock, which tests advance
    yield tab
    context.close()


@pytest.fixture
def reader(tab: Page, server: Server) -> Page:
    """Return a tab of the site that has nothing stored."""
    tab.goto(f"{server.origin}/_static/favicon.svg")
    tab.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    tab.set_viewport_size(DESK)
    tab.emulate_media(color_scheme="light")
    return tab


@pytest.fixture
def page(reader: Page, server: Server) -> Page:
    """Open a page without answers; Python starts with the first check."""
    answer_here(reader, f"{server.origin}/exercises/{EXERCISE}/{EXERCISE}.html")
    return reader


def mark(page: Page, part: str) -> str:
    return page.locator(f"#answer-{part} span").inner_text()


def done(page: Page) -> str:
    return page.locator(".answers-done[role=status]").inner_text()


def shown(page: Page, part: str) -> str:
    boxes = section(page, part).locator(".cell_output > :not(.given-stderr) pre")
    return "\n".join(boxes.all_text_contents())


def checked_until_stopped(page: Page, part: str) -> str:
    """Check a part whose first call never ends; return the message a minute later."""
    page.evaluate("() => { heard.length = 0; }")
    with a_run(page):
        section(page, part).get_by_role("button", name="Check").click()
        page.wait_for_function("() => heard.some(({ call }) => call === 1)")
        page.clock.run_for(60_000)
    return shown(page, part)


# ---- questions and sections


def plain(markdown: str) -> str:
    """Return a text's words without Markdown markup."""
    if markdown.startswith("```"):  # in code, * is not markup
        return " ".join(" ".join(markdown.splitlines()[1:-1]).split())
    return " ".join(re.sub(r"^```\w*$|^(?:#+|[-*]) |[`*]", "", markdown, flags=re.M).split())


def no_marks(text: str) -> str:
    return " ".join(text.replace("’", "'").split())


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if number % 3 else ())
        for number, name in enumerate(exercises.names())
    ],
)
def test_the_page_has_all_questions_of_the_notebook(
    reader: Page, server: Server, released: dict[str, nbformat.NotebookNode], name: str
) -> None:
    page = reader
    answer_here(page, f"{server.origin}/exercises/{name}/{name}.html")
    texts = [one.source for one in released[name].cells if one.cell_type == "markdown"]
    headings = [title for text in texts for title in re.findall(r"^## (.+)$", text, re.M)]
    titles = page.locator(":is(.answers, .answers-end) h3").all_inner_texts()
    assert [no_marks(title) for title in titles if title != "A cell of your own"] == [
        plain(title) for title in headings
    ]
    assert headings[-2].startswith("To think about")
    (words,) = page.locator(".own-words").all()
    assert f"*{words.get_attribute('placeholder')}*" in [text.strip() for text in texts]
    everything = no_marks(" ".join(page.locator(".answers, .answers-end").all_inner_texts()))
    asked = [text for text in texts if text.startswith("## ") and text != texts[-1]]
    asked += [text for text in texts[2:] if not text.startswith(("## ", "*"))]
    # The page replaces the first paragraphs of the introduction and of the last section.
    asked += ["\n\n".join(text.split("\n\n")[1:]) for text in (texts[1],)]
    asked += texts[-1].split("\n\n")[2:]
    first = str(cell(released[name], "given").source)
    assert (
        page.locator("p", has_text="Given for all parts:").locator("+ .cell pre").text_content()
        == first
    )
    missing = [
        paragraph
        for text in asked
        for paragraph in map(plain, re.split(r"\n\n|\n(?=- )", text))
        if paragraph not in everything
    ]
    assert missing == []


# ---- checks


def test_a_waiting_check_is_queued_once_and_a_done_exercise_offers_to_compare(
    page: Page, right: dict[str, str]
) -> None:
    """Press buttons while Python is fetched; a queued check isn't queued again.

    A running check can be queued once more.
    """
    for part in PARTS[:3]:
        write(field(page, part), right[part])
    runs = "() => Number(document.querySelector('.python-panel').dataset.runs ?? 0)"
    page.evaluate(
        """(names) => {
          for (const name of [...names, names[1], names[0], names[0]]) {
            document.querySelector(`section:has(> #answer-${name}) .run-bar button`).click();
          }
        }""",
        PARTS[:3],
    )
    # Don't poll at each frame, the default: drawing frames takes longer than most runs.
    ended = f"() => ({runs})() === 4 && !document.querySelector('.running')"
    page.wait_for_function(ended, polling=50)
    for part in PARTS[:3]:
        assert shown(page, part).startswith(f"{part}: right for")
        assert mark(page, part) == " – done"
    page.get_by_role("button", name="Check all").click()
    page.wait_for_function(f"(count) => ({runs})() === count", arg=4 + len(PARTS), polling=50)
    assert "The function is still to be written." in shown(page, PARTS[-1])
    # The button for the thoughts on the answers appears once all parts are done.
    exercise, compare = exercises.load(EXERCISE), "Compare your answer"
    assert page.get_by_role("button", name=compare).count() == 0
    for part in PARTS[3:]:
        write(field(page, part), right[part])
        checked(page, part)
    assert exercise.moral in " ".join(shown(page, PARTS[-1]).split())
    with a_run(page):
        page.get_by_role("button", name=compare).click()
    assert bar(page) == "You can compare it below your answer."
    told = page.locator(".answers-end .cell_output:visible pre").last.inner_text()
    assert " ".join(told.split()) == exercise.thoughts


def test_stopping_a_check_drops_the_queue_and_says_so(page: Page) -> None:
    write(field(page, "bytes-moved"), ENDLESS)
    # Press both before the first check begins.
    buttons = [
        section(page, part).get_by_role("button", name="Check").element_handle()
        for part in ("bytes-moved", "operations")
    ]
    page.evaluate("(buttons) => buttons.forEach((button) => button.click())", buttons)
    page.wait_for_function("() => heard.some(({ call }) => call === 1)")
    assert bar(page) == "Running … 1 more to come."
    assert page.locator(".running[aria-busy=true]").count() == 2
    with a_run(page):
        page.get_by_role("button", name="Stop", exact=True).click()
    assert bar(page).startswith("Stopped. ")
    assert bar(page).endswith("One more was waiting, and was not run.")
    assert page.locator(f".running, [aria-busy], {CONTROLS}").count() == 0


def test_a_part_is_done_only_while_its_dependencies_are_unchanged(
    page: Page, right: dict[str, str]
) -> None:
    uses = "def intensity(B, D, F):\n    return ops(B, D, F) / sum(bytes_moved(B, D, F))"
    page.get_by_role("button", name="Add a cell of your own below Part 2").click()
    helper = page.locator(f"{OWN} {EDITOR}").first
    write(helper, "def ops(*sizes):\n    return operations(*sizes)\nprint('helped')")
    write(field(page, "bytes-moved"), right["bytes-moved"])
    checked(page, "bytes-moved")
    expect(field(page, "bytes-moved")).to_be_focused()
    write(field(page, "operations"), right["operations"])
    press(page, "Shift+Enter")
    expect(field(page, "intensity")).to_be_focused()
    write(field(page, "intensity"), uses)
    assert checked(page, "intensity").startswith("intensity: right for")
    assert bar(page) == "The check passed."
    assert page.locator(CONTROLS).count() == 0
    assert page.locator(f"{OWN} .given-stdout").inner_text().strip() == "helped"
    assert done(page).startswith("3 of 7 parts done. Your")
    for editor, broken in [
        (field(page, "bytes-moved"), "def bytes_moved(B, D, F):\n    return 1, 1"),
        (field(page, "operations"), "def operations(B, D, F):\n    return 1"),
        (helper, "def ops(*sizes):\n    return 1"),
    ]:
        was = written(editor)
        write(editor, broken)
        assert mark(page, "intensity") == " – check again"
        assert " 1 to check again, " in done(page)
        write(editor, was)
        assert mark(page, "intensity") == " – done"
    # Parts that `intensity` doesn't depend on may change.
    write(field(page, "times"), "def times(*sizes): ...")
    page.reload()
    page.locator(".answers h3").first.wait_for()
    assert mark(page, "intensity") == " – done"
    write(field(page, "bytes-moved"), "print('unseen')\ndef bytes_moved(B, D, F):\n    return 1, 1")
    assert mark(page, "intensity") == " – check again"
    # Running the reader's own cell runs the parts above it first. Only parts that fail show their
    # output, and a failure doesn't keep the reader's cell from running.
    write(field(page, "operations"), "print('seen')\n1 / 0")
    write(helper, "print('ran')")
    with a_run(page):
        page.get_by_role("button", name="Run your own cell below Part 2").click()
    assert bar(page) == "Done."
    assert page.locator(f"{OWN} .given-stdout").inner_text().strip() == "ran"
    assert shown(page, "bytes-moved") == ""
    assert shown(page, "operations").startswith("seen\n\nLine 2 of this cell:")
    write(field(page, "operations"), right["operations"])
    write(helper, "def ops(*sizes):\n    return operations(*sizes)")
    assert not checked(page, "intensity").startswith("intensity: right for")
    assert bar(page) == "The check found something: see below the answer."
    assert mark(page, "intensity") == ""


def test_endless_loops_in_answers_get_the_same_message_as_in_a_notebook(
    page: Page, right: dict[str, str], released: dict[str, nbformat.NotebookNode]
) -> None:
    """Check also that the attempts count toward hints, although Python is terminated."""
    write(field(page, "operations"), right["operations"])
    assert checked(page, "operations").startswith("operations: right for")
    write(field(page, "bytes-moved"), ENDLESS)
    found = [checked_until_stopped(page, "bytes-moved") for _ in range(2)]
    assert bar(page) == "The check found something: see below the answer."
    assert mark(page, "bytes-moved") == ""
    assert written(field(page, "bytes-moved")) == ENDLESS
    check = 'check("bytes-moved", bytes_moved)'
    tried = {"first": check, "second": check}
    expected = said([*given(released), ("", SOON), ("", ENDLESS), *tried.items()])
    assert found == [expected["first"].rstrip(), expected["second"].rstrip()]
    assert "It was stopped: a call gets 5 s of computing and 30 s in all" in found[0]
    assert 'run: check.hint("bytes-moved")' in found[1]
    # The part that was done before stays done, and Python works again.
    assert mark(page, "operations") == " – done"
    assert checked(page, "operations").startswith("operations: right for")


def test_endless_loops_at_top_level_are_stopped_too(page: Page) -> None:
    write(field(page, "bytes-moved"), "while True:\n    pass")
    page.evaluate("() => { heard.length = 0; }")
    with a_run(page):
        section(page, "bytes-moved").get_by_role("button", name="Check").click()
        page.wait_for_function("() => heard.some(({ begins }) => begins === 2)")
        page.clock.run_for(110_000)
        assert bar(page) == "Running …"
        page.clock.run_for(11_000)
    assert shown(page, "bytes-moved").startswith("This cell did not come to an end")


def test_a_right_but_slow_answer_does_not_count_as_done(page: Page, right: dict[str, str]) -> None:
    """Such an answer might exceed the time limit of grading."""
    slow = (
        "import sys\ntimes = sys.modules['browser.python.call_times'].TIMES\n"
        "def operations(B, D, F):\n"
        "    times.clock = lambda real=times.clock: real() + 1000\n"
        "    return 2 * B * D * F"
    )
    write(field(page, "operations"), slow)
    said_first = checked(page, "operations")
    assert said_first.startswith("operations: right for")
    assert "A call took 1000 s here. In grading a call gets 5 s" in said_first
    assert mark(page, "operations") == ""
    assert done(page).startswith("0 of 7")
    # The page cancels its timeout when a run ends, so Python isn't terminated later.
    page.clock.run_for(121_000)
    write(field(page, "operations"), right["operations"])
    assert "A call took" not in checked(page, "operations")
    assert mark(page, "operations") == " – done"
    assert page.evaluate("heard.filter(({ ready }) => ready).length") == 1


# ---- the reader's own cells, and hints


def own(page: Page) -> Locator:
    """Return the cell for the reader's own code at the end of every exercise page."""
    return page.locator(f".answers-end {OWN}").first


def test_texts_and_the_readers_own_cell_are_saved_and_downloaded(
    page: Page,
    right: dict[str, str],
    released: dict[str, nbformat.NotebookNode],
    tmp_path: Path,
) -> None:
    assert page.locator(CONTROLS).count() == 0
    text = page.get_by_role("textbox", name="Your answer to To think about (not graded)")
    assert text.input_value() == ""
    text.fill("A first thought.")
    text.fill("Half the *bytes*.\n\nNothing else.")
    write(field(page, "operations"), right["operations"])
    code = own(page).locator(EDITOR)
    before = downloaded(page, tmp_path).read_bytes()
    found = nbformat.reads(before, as_version=4)
    assert [
        (old.source, new.source)
        for old, new in zip(released[EXERCISE].cells, found.cells, strict=True)
        if old.source != new.source and old.cell_type == "markdown"
    ] == [("*Write your answer here.*", "Half the *bytes*.\n\nNothing else.")]
    write(code, "print(operations(2, 3, 4))\npeak")
    assert press(page) == "Done."
    assert own(page).locator(".given-stdout").inner_text().strip() == "48"
    assert own(page).locator(".given-plain").inner_text().startswith("394")
    page.reload()
    page.locator(".answers h3").first.wait_for()
    assert text.input_value() == "Half the *bytes*.\n\nNothing else."
    assert written(own(page).locator(EDITOR)) == "print(operations(2, 3, 4))\npeak"
    found = nbformat.read(downloaded(page, tmp_path), as_version=4)
    nbformat.validate(found)
    (mine,) = (one for one in found.cells if one.source.startswith("print(operations"))
    assert mine.metadata == {}
    assert 'check("bounds", bounds)' in found.cells[found.cells.index(mine) - 1].source
    page.get_by_role("button", name="Add a cell of your own below all parts").click()
    page.keyboard.insert_text("second = 2")
    found = nbformat.read(downloaded(page, tmp_path), as_version=4)
    assert found.cells[found.cells.index(mine) + 1].source == "second = 2"
    # The download omits the reader's own cells if they are empty.
    for editor in page.locator(f".answers-end {OWN} {EDITOR}").all():
        write(editor, "")
    assert downloaded(page, tmp_path).read_bytes() == before


@pytest.mark.long
def test_parts_below_a_readers_own_cell_can_use_its_names(
    page: Page, right: dict[str, str]
) -> None:
    page.get_by_role("button", name="Add a cell of your own below Part 1").click()
    page.keyboard.insert_text("WIDTH = 1\nunknown")
    with a_run(page):
        page.get_by_role("button", name="Run your own cell below Part 1").click()
    assert bar(page) == "The cell ended with an error."
    assert "NameError" in page.locator(f"{OWN} .given-error").inner_text()
    # Checks of parts below the own cell run it first.
    write(field(page, "operations"), f"two = 2 * WIDTH\n{right['operations']}")
    assert checked(page, "operations").startswith("operations: right for")


def given(released: dict[str, nbformat.NotebookNode]) -> list[tuple[str, str]]:
    return [("", str(cell(released[EXERCISE], key).source)) for key in ("given", "cases")]


@pytest.mark.long
def test_page_and_notebook_give_the_same_messages_for_the_same_steps(
    page: Page, right: dict[str, str], released: dict[str, nbformat.NotebookNode]
) -> None:
    """The learner makes mistakes, asks for hints, and corrects the answers."""
    wrong = "def bytes_moved(B, D, F):\n    return B * D + D * F, 0"
    uses = "def intensity(B, D, F):\n    return 2 * B * D * F / sum(bytes_moved(B, D, F))"
    steps = [
        ("bytes-moved", None),
        ("bytes-moved", wrong),
        ("intensity", uses),
        ("bytes-moved", wrong.replace(", 0", ", 1")),
        ("bytes-moved", "hint"),
        ("bytes-moved", "def bytes_moved(B, D):\n    return 1"),
        ("bytes-moved", "def bytes_moved(B, D, F):\n    return [1, 2][3]"),
        ("bytes-moved", "bytes_moved = 7"),
        ("intensity", uses),
        ("intensity", "hint"),
        ("bytes-moved", right["bytes-moved"]),
        ("intensity", uses),
        ("intensity", "def intensity(B, D, F):\n    print(B)\n    return operations(B, D, F)"),
        ("intensity", uses),
    ]
    there, here = given(released), []
    above = page.locator("p", has_text="Given for all parts:").locator("+ .cell pre")
    assert above.first.text_content() == there[0][1]
    for one in released[EXERCISE].cells:
        if one.metadata.get("nbgrader", {}).get("solution"):
            there.append(("", one.source))
    for number, (part, source) in enumerate(steps):
        line = str(cell(released[EXERCISE], part).source)
        if source == "hint":
            line = f'check.hint("{part}")'
            with a_run(page):
                page.get_by_role("button", name="Stronger hint").and_(
                    section(page, part).locator("button:visible")
                ).click()
            here.append(section(page, part).locator(".cell_output").last.inner_text())
        else:
            if source:
                there.append(("", source))
                write(field(page, part), source)
            here.append(checked(page, part))
        there.append((f"{number}", line))
    expected = said(there)
    assert [text.split() for text in here] == [
        expected[f"{number}"].split() for number in range(len(steps))
    ]


# ---- looks


@pytest.mark.parametrize(
    ("width", "theme"),
    [
        pytest.param("desk", "light", marks=pytest.mark.long),
        pytest.param("desk", "dark", marks=pytest.mark.long),
        pytest.param("phone", "light", marks=pytest.mark.long),
        ("phone", "dark"),
    ],
)
def test_hints_marks_and_readers_own_cells_are_accessible(
    page: Page, right: dict[str, str], width: str, theme: str
) -> None:
    for part in ("bytes-moved", "operations"):
        write(field(page, part), right[part])
    uses = "def intensity(B, D, F):\n    return operations(B, D, F) / sum(bytes_moved(B, D, F))"
    write(field(page, "intensity"), uses)
    checked(page, "intensity")
    write(field(page, "operations"), "print('noise')\ndef operations(B, D, F):\n    return 1")
    hint = page.get_by_role("button", name="Stronger hint for Part 2")
    checked(page, "operations")
    assert hint.count() == 0
    checked(page, "operations")
    with a_run(page):
        hint.click()
    assert bar(page) == "The hint stands below the answer."
    hints = section(page, "operations").locator(".cell_output").last.locator("pre")
    assert hints.count() == 1
    write(own(page).locator(EDITOR), "operations(1, 2, 3) + intensity(1, 2, 3) * bytes_moved")
    assert press(page) == "The cell ended with an error."
    assert mark(page, "intensity") == " – check again"
    put_width(page, DESK if width == "desk" else PHONE)
    put_theme(page, theme)
    assert axe(page, ".answers, .answers-end") == []
    assert page.evaluate(SIDEWAYS) <= 0
    assert page.evaluate(STICKING_OUT) == []
    checked(page, "operations")
    assert hints.count() == 0
