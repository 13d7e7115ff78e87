"""What a reader does with a page of the built site: open, run, edit, answer, download.

The only place that knows the names of a page's elements. All of it is the real thing: the site that
`make book` builds, a browser of the system, and Pyodide.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page
from site_browser import DESK, PHONE, Traffic, put_width, ready

SECONDS = 120  # for a run of Python; the first one loads Pyodide, and the machine may be busy
EDITOR = ".code-editor .cm-content"
RUNS = "() => Number(document.querySelector('.python-panel')?.dataset.runs ?? 0)"
ANSWER_HERE = {"en": "Answer here", "zh": "在这里回答"}
HINT = re.compile("Stronger hint|提示")
COMPARE = re.compile("Compare your answer|对照")
# The editor renders only visible lines; the <pre> that it replaces keeps the whole text.
WRITTEN = "(e) => e.closest('.cell_input').querySelector('pre').textContent.slice(0, -1)"


class Reader:
    """One tab of a reader's browser.

    origin: the address of the site's root.
    traffic: its requests and errors, which the fixture `reader` checks at the end.
    """

    def __init__(self, page: Page, origin: str, traffic: Traffic) -> None:
        self.page, self.origin, self.traffic = page, origin, traffic

    # ---- any page

    def open(self, name: str, language: str = "en", *, covered: bool = False) -> "Reader":
        """Open a page, such as "chapters/time"; `covered`: leave guesses covered."""
        folder = "" if language == "en" else f"{language}/"
        ready(self.page, f"{self.origin}/{folder}{name}.html", covered=covered)
        return self

    def tab(self) -> "Reader":
        """Open another tab of the same browser."""
        return Reader(self.page.context.new_page(), self.origin, self.traffic)

    def phone(self) -> None:
        put_width(self.page, PHONE)

    def desk(self) -> None:
        put_width(self.page, DESK)

    def press(self, name: str) -> None:
        """Press the button of this name."""
        self.page.get_by_role("button", name=name, exact=True).first.click()

    @property
    def text(self) -> str:
        """The text of the article, as it is displayed."""
        return self.page.locator(".bd-article").inner_text()

    # ---- a chapter's cells

    @property
    def bar(self) -> str:
        """What the status bar of the page's Python says."""
        return self.page.locator(".python-words").inner_text()

    @contextmanager
    def a_run(self) -> Iterator[None]:
        """Wait, at the end of the block, for the end of the run that the block starts."""
        before = self.page.evaluate(RUNS)
        yield
        over = f"(before) => ({RUNS})() > before"
        # Polling at each frame, the default, draws frames, which takes longer than most runs.
        self.page.wait_for_function(over, arg=before, timeout=1000 * SECONDS, polling=50)

    def run(self) -> str:
        """Press the page's first Run button; return what the status bar says at the end."""
        with self.a_run():
            self.page.locator(".run-cell").first.click()
        return self.bar

    def cell(self, code: str) -> Locator:
        """Return the first cell whose code contains this text; it must have been run once."""
        editors = self.page.locator(EDITOR)
        for number in range(editors.count()):
            if code in self.written(editors.nth(number)):
                inside = editors.nth(number)
                return self.page.locator("div.cell").filter(has=inside)
        raise LookupError(f"no cell has the code {code!r}")

    @staticmethod
    def written(editor: Locator) -> str:
        return str(editor.evaluate(WRITTEN))

    def write(self, editor: Locator, text: str) -> None:
        """Replace all of an editor's text."""
        editor.focus()
        editor.press("Control+a")
        self.page.keyboard.insert_text(text)
        assert self.written(editor) == text

    def edit(self, old: str, new: str) -> str:
        """Replace code in the first cell that has it, and run; return the status bar's words.

        The page must have been run once, which makes cells editable.
        """
        editor = self.cell(old).locator(EDITOR)
        self.write(editor, self.written(editor).replace(old, new))
        with self.a_run():
            self.page.keyboard.press("Control+Enter")
        return self.bar

    def output(self, code: str) -> str:
        """Return the text below the first cell that has this code."""
        return self.cell(code).locator(".cell_output").first.inner_text()

    def values(self) -> list[str]:
        """Return the computed values in the page's sentences and tables, in order."""
        return list(self.page.locator(".bd-article .computed").all_text_contents())

    def reset(self) -> None:
        self.press("Put the page back")

    # ---- an exercise

    def answer_here(self, name: str, language: str = "en") -> None:
        """Open an exercise and press the button that lets readers answer in the page."""
        self.open(f"exercises/{name}/{name}", language)
        self.press(ANSWER_HERE[language])
        self.page.locator(".answers h3").first.wait_for()

    def part(self, key: str) -> Locator:
        return self.page.locator(f"section:has(> #answer-{key})")

    def check(self, key: str, answer: str | None = None) -> str:
        """Write an answer, if one is given, and check the part; return what is said below it."""
        editor = self.part(key).locator(EDITOR)
        if answer is not None:
            self.write(editor, answer)
        editor.focus()
        with self.a_run():
            self.page.keyboard.press("Control+Enter")
        said = self.part(key).locator(".cell_output > :not(.given-stderr) pre")
        return "\n".join(said.all_text_contents())

    def hint(self, key: str) -> str:
        """Press a part's button for a stronger hint; return the hint."""
        with self.a_run():
            self.part(key).locator("button", has_text=HINT).click()
        return self.part(key).locator(".cell_output").last.inner_text()

    def offers_hint(self, key: str) -> bool:
        return self.part(key).locator("button", has_text=HINT).is_visible()

    def done(self) -> str:
        """What the page says about how many parts are done."""
        return self.page.locator(".answers-done").inner_text()

    def own_cell(self, code: str) -> str:
        """Run code in the cell of one's own below all parts; return what it prints."""
        cell = self.page.locator(".own-cell").last
        self.write(cell.locator(EDITOR), code)
        with self.a_run():
            self.page.keyboard.press("Control+Enter")
        return "\n".join(cell.locator(".cell_output pre").all_text_contents())

    def write_words(self, words: str) -> None:
        """Answer the last question, in words."""
        self.page.locator(".own-words").fill(words)

    def compare(self) -> str:
        """Press the button that shows thoughts on the last question, if there is one."""
        with self.a_run():
            self.page.locator(".answers-end button", has_text=COMPARE).click()
        return self.page.locator(".answers-end .cell_output:visible pre").last.inner_text()

    def download(self, folder: Path) -> Path:
        """Press Download; return the path of the file."""
        with self.page.expect_download() as found:
            self.page.locator(".answers-files button").first.click()
        path = folder / found.value.suggested_filename
        found.value.save_as(path)
        return path

    def take(self, notebook: Path) -> str:
        """Open a notebook in the page; return what the status bar says."""
        before = self.bar
        self.page.locator(".answers-files input[type=file]").set_input_files(notebook)
        over = "(before) => document.querySelector('.python-words').innerText !== before"
        self.page.wait_for_function(over, arg=before)
        return self.bar

    # ---- a figure

    def figure(self, name: str) -> Locator:
        """Return the figure of this name, such as "model"."""
        return self.page.locator(f"figure.live[data-figure={name}]")
