"""What a reader does with a page of the built site: open, run, edit, answer, download.

The only place that knows the names of a page's elements. All of it is the real thing: the site that
`make book` builds, a browser of the system, and Pyodide.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page
from site_browser import ALIVE, DESK, PHONE, Traffic, put_width, ready

SECONDS = 120  # for a run of Python; the first one loads Pyodide, and the machine may be busy
EDITOR = ".code-editor .cm-content"
RUNS = "() => Number(document.querySelector('.python-panel')?.dataset.runs ?? 0)"
ANSWER_HERE = {"en": "Answer here", "zh": "在这里回答"}
# The editor renders only visible lines; the <pre> that it replaces keeps the whole text.
WRITTEN = "(e) => e.closest('.cell_input').querySelector('pre').textContent.slice(0, -1)"

# Searches as the page does for its address, but without fetching each result's page for an excerpt.
SEARCH = """async (query) => {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  const out = document.getElementById("search-results");
  out.replaceChildren();
  Search.performSearch(query);
  const summary = () => out.querySelector(".search-summary")?.textContent.trim();
  while (!summary()) await new Promise((next) => setTimeout(next, 20));
  return [...out.querySelectorAll("li > a")].map((link) => link.href);
}"""
GUESSES = """(all) => all.map((one) =>
  [one.dataset.name, one.dataset.kind, Boolean(one.nextElementSibling?.matches("details"))])"""
WITHOUT_OPTIONS = "(e) => e.textContent.replace(e.querySelector('select').textContent, '').trim()"
# Whether each block after a guess, in its section, is shown.
SHOWN_AFTER = """(name) => {
  const answer = document.querySelector(`.answer[data-name="${name}"]`);
  const form = document.querySelector(`form.guess[name="${name}"]`);
  return [...answer.closest("section").querySelectorAll("p, pre, table, figure, ul")]
    .filter((one) => form.compareDocumentPosition(one) & 4)
    .filter((one) => !one.closest(".admonition.tip, .guess-skip, .guess-told, .answer, details"))
    .map((one) => one.checkVisibility());
}"""


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

    # ---- the frame around a page

    def other_language(self) -> None:
        """Press the link to the other language, and wait for its page."""
        link = self.page.locator("a.language").first
        link.evaluate("(e) => e.focus({ preventScroll: true })")
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")
        self.page.wait_for_function(ALIVE)

    @property
    def theme(self) -> str:
        return str(self.page.evaluate("document.documentElement.dataset.theme"))

    def results(self, queries: list[str]) -> dict[str, list[str]]:
        """Search for each query on the search page; return its pages, each once, best first."""
        start = self.page.url.removesuffix("search.html")
        self.page.wait_for_function("() => Search.hasIndex()")
        found = {query: self.page.evaluate(SEARCH, query) for query in queries}
        return {
            query: list(dict.fromkeys(link.removeprefix(start).split(".html")[0] for link in links))
            for query, links in found.items()
        }

    def note(self) -> Locator:
        """Return the note that explains a term of the glossary."""
        return self.page.get_by_role("tooltip")

    def term(self, name: str) -> Locator:
        """Return the page's first link to a term, such as "FLOP-s"."""
        return self.page.locator(f"main a:has(> .std-term)[href$='#term-{name}']").first

    # ---- a guess

    def guesses(self, kind: str = "", *, folded: bool | None = None) -> list[str]:
        """Return the names of the page's guesses, in order.

        kind: "number", "choice" or "order"; all of them without it.
        folded: those whose answer is folded, or those that cover what follows.
        """
        found = self.page.locator(".bd-article .answer").evaluate_all(GUESSES)
        return [
            name
            for name, its_kind, is_folded in found
            if its_kind.startswith(kind) and folded in (None, is_folded)
        ]

    def form(self, guess: str) -> Locator:
        return self.page.locator(f"form.guess[name='{guess}']")

    def right(self, guess: str) -> str:
        """Return the right answer, which the page has without showing it."""
        place = self.page.locator(f".answer[data-name='{guess}'] .right")
        return " ".join((place.text_content() or "").split())

    def guess(self, guess: str, answer: str | list[str]) -> None:
        """Write, choose or order, and press the form's button; an empty answer changes nothing."""
        form = self.form(guess)
        if isinstance(answer, list):
            for label in form.locator("label").all():
                words = label.evaluate(WITHOUT_OPTIONS)
                label.locator("select").select_option(index=1 + answer.index(words))
        elif form.locator("input[type=radio]").count():
            if answer:
                form.get_by_label(answer, exact=True).check()
        else:
            form.get_by_role("textbox").fill(answer)
        form.get_by_role("button").click()

    def noted(self, guess: str) -> str:
        """Return what stands below the form."""
        return self.page.locator(f"form.guess[name='{guess}'] + .guess-note").inner_text()

    def told(self, guess: str) -> str:
        """Return what the page says at the answer about the guess, folded or not."""
        place = f".answer[data-name='{guess}']"
        said = self.page.locator(f"{place} + .guess-told, {place} + details .guess-told")
        return (said.text_content() or "") if said.get_attribute("hidden") is None else ""

    def unfold(self, guess: str) -> None:
        self.page.locator(f".answer[data-name='{guess}'] + details").evaluate(
            "(e) => { e.open = true; e.scrollIntoView(); }"
        )

    def shown_after(self, guess: str) -> bool:
        """Whether what follows the guess in its section is shown: all of it, or nothing."""
        shown = set(self.page.evaluate(SHOWN_AFTER, guess))
        assert len(shown) == 1
        return bool(shown.pop())

    @property
    def covers(self) -> int:
        """The number of parts of the page that guesses cover."""
        return self.page.locator(".guess-skip").count()

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

    def download(self, folder: Path) -> Path:
        """Press Download; return the path of the file."""
        with self.page.expect_download() as found:
            self.press("Download")
        path = folder / found.value.suggested_filename
        found.value.save_as(path)
        return path

    # ---- a figure

    def figure(self, name: str) -> Locator:
        """Return the figure of this name, such as "model"."""
        return self.page.locator(f"figure.live[data-figure={name}]")
