"""What a reader does with a page of the built site: open, run, edit, answer, download.

The only place that knows the names of a page's elements. All of it is the real thing: the site that
`make book` builds, a browser of the system, and Pyodide.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page
from site_browser import ALIVE, DESK, PHONE, Traffic, put_width, ready

SECONDS = 120  # for a run of Python; the first one loads Pyodide, and the machine may be busy
EDITOR = ".code-editor .cm-content"
CELL = "xpath=ancestor::div[contains(concat(' ', @class, ' '), ' cell ')][1]"
RUNS = "() => Number(document.querySelector('.python-panel')?.dataset.runs ?? 0)"
PUT_BACK = re.compile("^(Put the page back|恢复原来的页面)$")
ANSWER_HERE = {"en": "Answer here", "zh": "在这里回答"}
CHECK = re.compile("^(Check|检查)")
HINT = re.compile("Stronger hint|提示")
COMPARE = re.compile("Compare your answer|对照")
# The values in the text, in order: text, whether it is marked, and whether it follows edits (the
# right answers of guesses stay as printed).
PLACES = """() => [...document.querySelectorAll(".bd-article .computed")].map((place) => [
  place.textContent,
  place.matches(".changed") && getComputedStyle(place).boxShadow !== "none",
  !place.closest(".answer")])"""
# A browser that keeps nothing: a full disk, or a private window of some browsers.
FULL = """const { setItem } = Storage.prototype;
Storage.prototype.setItem = function (key, value) {
  if (key.startsWith("roofline-")) throw new DOMException("", "QuotaExceededError");
  setItem.call(this, key, value);
};"""
# Of values that follow edits, and of cells with code: whether each is below a cell, and is marked.
KEPT_BELOW = """(cell) => {
  const isBelow = (one) => Boolean(cell.compareDocumentPosition(one) & 4);
  const values = [...document.querySelectorAll(".bd-article .computed")];
  const cells = [...document.querySelectorAll(".bd-article .cell:has(.cell_input)")];
  return {
    values: values.filter((one) => !one.closest(".answer"))
      .map((one) => [isBelow(one), one.matches(".stale")]),
    cells: cells.map((one) => [isBelow(one), Boolean(one.querySelector(":scope > p.as-printed"))]),
  };
}"""
# Sets controls of figures as a reader does; returns what all figures show after each setting.
MOVE = """async (settings) => {
  const all = Object.fromEntries([...document.querySelectorAll("figure.live")].map(
    (one) => [one.dataset.figure, one]));
  const seen = [];
  for (const setting of settings) {
    for (const [figure, controls] of Object.entries(setting)) {
      for (const [name, at] of Object.entries(controls)) {
        const control = all[figure].querySelector(`[name="${name}"]`);
        if (control.type === "range") control.value = at;
        else control.selectedIndex = at;
        control.dispatchEvent(new Event("input", { bubbles: true }));
      }
    }
    const rests = () => Object.values(all).every((one) => one.dataset.state === "live");
    while (!rests()) await new Promise((go) => setTimeout(go, 20));
    seen.push(Object.fromEntries(Object.entries(all).map(([name, one]) => [name, (%s)(one)])));
  }
  return seen;
}"""
# What a figure shows: its settings as they are read aloud, numbers, sentences, and all its words.
SEEN = """(figure) => ({
  chosen: Object.fromEntries([...figure.querySelectorAll("fieldset [name]")].map((control) => [
    control.name, control.getAttribute("aria-valuetext") ?? control.value])),
  beside: Object.fromEntries([...figure.querySelectorAll(".live-value")].map((one) => [
    one.parentElement.querySelector("input").name, one.textContent])),
  labels: Object.fromEntries([...figure.querySelectorAll("fieldset [name]")].map((control) => [
    control.name, control.labels[0]?.querySelector("span").textContent ?? ""])),
  numbers: Object.fromEntries([...figure.querySelectorAll("data")].map((one) =>
    [one.dataset.name, [one.value, one.textContent]])),
  says: figure.querySelector(".live-says").textContent,
  lines: [...figure.querySelectorAll(".live-lines > li")].map((one) => one.textContent),
  drawn: [...figure.querySelectorAll(".live-picture text")].map((one) => one.textContent),
  picture: figure.querySelector(".live-picture svg").innerHTML,
  bad: (figure.querySelector(".live-picture svg").outerHTML
    .match(/NaN|undefined|Infinity|null/g) ?? []).join(),
  out: (%s)(figure),
  words: [...figure.querySelectorAll("legend, label, dt, option, summary, li, p, .live-value")]
    .map((one) => {
      const copy = one.cloneNode(true);
      copy.querySelectorAll("select").forEach((list) => list.remove());
      return copy.textContent;
    }),
})"""
# What the figures show before a script has run.
STILL = """async () => {
  const file = await (await fetch(location.href)).text();
  const page = new DOMParser().parseFromString(file, "text/html");
  return Object.fromEntries([...page.querySelectorAll("figure.live")].map(
    (one) => [one.dataset.figure, (%s)(one)]));
}"""
# Texts of a picture that leave it, or hide a letter or more of another text.
OUT = """(figure) => {
  const svg = figure.querySelector(".live-picture svg");
  const { left, right, top, bottom } = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].filter((one) => one.textContent.trim());
  const boxes = texts.map((one) => one.getBoundingClientRect());
  const found = [];
  texts.forEach((text, at) => {
    const one = boxes[at];
    if (!one.width) return;
    const across = one.left < left - 2 || one.right > right + 2;
    const isOut = across || one.top < top - 4 || one.bottom > bottom + 4;
    // A drawing cuts off what leaves its axes, but their rectangle has that, too.
    const cut = text.closest("svg svg");
    const [x, width] = cut ? [cut.x.baseVal.value, cut.width.baseVal.value] : [0, 0];
    const axes = cut && { left: left + x, right: left + x + width };
    const isSeen = axes && one.right > axes.left && one.left < axes.right;
    if (isSeen && (one.left < axes.left - 2 || one.right > axes.right + 2)) {
      found.push(`${text.textContent} is cut off`);
    }
    if (isOut && !axes) found.push(`${text.textContent} is outside`);
    for (let next = at + 1; next < texts.length; next++) {
      const other = boxes[next];
      const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (wide > 10 && high > 0.5 * Math.min(one.height, other.height)) {
        found.push(`${text.textContent} lies on ${texts[next].textContent}`);
      }
    }
  });
  return found;
}"""
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
# Whether each block between a guess and its answer, and the paragraph after it, is shown.
SHOWN_AFTER = """(name) => {
  const answer = document.querySelector(`.answer[data-name="${name}"]`);
  const form = document.querySelector(`form.guess[name="${name}"]`);
  const blocks = [...answer.closest("section").querySelectorAll("p, pre, table, figure, ul")]
    .filter((one) => form.compareDocumentPosition(one) & 4)
    .filter((one) => !one.closest(".admonition.tip, .guess-told, .answer, details"));
  const before = blocks.filter((one) => one.compareDocumentPosition(answer) & 4);
  const next = blocks.find((one) => answer.compareDocumentPosition(one) & 4);
  return [...before, ...(next?.matches("p") ? [next] : [])].map((one) => one.checkVisibility());
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
        """Press the link from English to Chinese or back, and wait for its page."""
        english = self.page.locator("html").get_attribute("lang") == "en"
        link = self.page.locator(f"a.language[lang={'zh-CN' if english else 'en'}]").first
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

        kind: "number" or "choice"; all of them without it.
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
        answer = self.page.locator(f".answer[data-name='{guess}']")
        place = answer.get_attribute("data-place")
        right = answer.locator(".choice").nth(int(place)) if place else answer.locator(".right")
        return " ".join((right.text_content() or "").split())

    def guess(self, guess: str, answer: str) -> None:
        """Write or choose, and press the form's button; an empty answer changes nothing."""
        form = self.form(guess)
        if form.locator("input[type=radio]").count():
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
        """Whether what gives the guess's answer away is shown: all of it, or nothing."""
        shown = set(self.page.evaluate(SHOWN_AFTER, guess))
        assert len(shown) == 1
        return bool(shown.pop())

    @property
    def covers(self) -> int:
        """The number of parts of the page that guesses cover."""
        return self.page.locator(".guess-covered[hidden]").count()

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

    def forget_python(self) -> None:
        """Let no further page of this tab start Python at once, as it does where it has run."""
        self.page.evaluate("sessionStorage.removeItem('roofline-ran-python')")

    def cell(self, code: str) -> Locator:
        """Return the first cell whose code contains this text; it must have been run once."""
        editors = self.page.locator(EDITOR)
        for number in range(editors.count()):
            if code in self.written(editors.nth(number)):
                return editors.nth(number).locator(CELL)
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

    def start(self, old: str, new: str) -> None:
        """Replace code in a cell and start its run, without waiting for the end."""
        editor = self.cell(old).locator(EDITOR)
        self.write(editor, self.written(editor).replace(old, new))
        self.page.keyboard.press("Control+Enter")
        self.page.get_by_role("button", name="Stop", exact=True).wait_for()

    def code(self) -> Locator:
        """Return the code of all cells, as the page shows or runs it."""
        return self.page.locator(".bd-article .cell_input pre")

    def stale(self) -> bool:
        """Whether values in the text are marked as from before an error above them."""
        return self.page.locator(".bd-article .computed.stale").count() > 0

    def kept_below(self, code: str) -> dict[str, list[tuple[bool, bool]]]:
        """Return for values and cells: whether below a cell, whether marked as not computed."""
        return dict(self.cell(code).evaluate(KEPT_BELOW))

    def output(self, code: str) -> str:
        """Return the text below the first cell that has this code."""
        return self.cell(code).locator(".cell_output").first.inner_text()

    def places(self) -> list[tuple[str, bool, bool]]:
        """Return each value in the text: its text, whether it is marked, whether it follows."""
        return [tuple(place) for place in self.page.evaluate(PLACES)]

    def outputs(self, place: str = ".cell_output") -> list[str]:
        """Return the texts below the cells whose code the page shows, without figures.

        place: where to look; "details.as-printed" has the printed output that an edit has changed.
        """
        shown = """(all, place) => all.map((cell) => {
          const copy = cell.querySelector(place)?.cloneNode(true);
          const apart = copy?.querySelectorAll("svg, figcaption, [role=note]") ?? [];
          for (const one of apart) one.remove();
          const texts = [...copy?.querySelectorAll("pre, th, td") ?? []];
          return texts.map((one) => one.textContent).join(" ");
        })"""
        cells = self.page.locator(".bd-article div.cell:has(.cell_input)")
        return list(cells.evaluate_all(shown, place))

    def drawings(self, what: str = "innerHTML") -> list[str]:
        """Return the drawings of the cells, as SVG, or their "ariaLabel"."""
        drawn = self.page.locator(".bd-article .cell_output svg.figure")
        return list(drawn.evaluate_all("(all, what) => all.map((one) => one[what])", what))

    def reset(self) -> None:
        button = self.page.get_by_role("button", name=PUT_BACK, exact=True).first
        button.click()
        assert not button.is_visible()

    # ---- an exercise

    def answer_here(self, name: str, language: str = "en") -> None:
        """Open an exercise and press the button that lets readers answer in the page."""
        self.open(f"exercises/{name}", language)
        self.press(ANSWER_HERE[language])
        self.page.locator(".answers h3").first.wait_for()

    def part(self, key: str) -> Locator:
        return self.page.locator(f"section:has(> #answer-{key})")

    def check(self, key: str, answer: str | None = None) -> str:
        """Write an answer and press keys that check it, or press the button without an answer.

        Return what is said below it.
        """
        editor = self.part(key).locator(EDITOR)
        if answer is not None:
            self.write(editor, answer)
        with self.a_run():
            if answer is None:
                self.part(key).get_by_role("button", name=CHECK).click()
            else:
                editor.press("Control+Enter")
        said = self.part(key).locator(".cell_output > :not(.given-stderr)")
        return "\n".join(said.all_text_contents())

    def hint(self, key: str) -> str:
        """Press a part's button for a stronger hint; return the hint."""
        with self.a_run():
            self.part(key).locator("button", has_text=HINT).click()
        return self.part(key).locator(".cell_output").last.inner_text()

    def offers_hint(self, key: str) -> bool:
        return self.part(key).locator("button", has_text=HINT).is_visible()

    def offers_to_compare(self) -> bool:
        return self.page.locator(".answers-end button", has_text=COMPARE).is_visible()

    def done(self) -> str:
        """What the page says about how many parts are done."""
        return self.page.locator(".answers-done").inner_text()

    def mark(self, key: str) -> str:
        """Return what the heading of a part says about it beside its name."""
        return self.part(key).locator("h3 > span").inner_text()

    def own_cell(self, code: str, place: int = -1) -> str:
        """Run code in a cell of one's own, the last or another; return what it prints."""
        cell = self.page.locator(".own-cell").nth(place)
        self.write(cell.locator(EDITOR), code)
        with self.a_run():
            cell.locator(".run-bar button").first.click()
        return "\n".join(cell.locator(".cell_output pre").all_text_contents())

    def write_words(self, words: str) -> None:
        """Answer the last question, in words."""
        self.page.locator(".own-words").fill(words)

    def compare(self) -> str:
        """Press the button that shows thoughts on the last question, if there is one."""
        with self.a_run():
            self.page.locator(".answers-end button", has_text=COMPARE).click()
        return self.page.locator(".answers-end .cell_output:visible").last.inner_text()

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
        return self.page.locator(f"figure.live[data-figure={name}]").first

    def figures(self) -> list[str]:
        """Return the names of the page's figures with controls."""
        names = "(all) => all.map((one) => one.dataset.figure)"
        return list(self.page.locator("figure.live").evaluate_all(names))

    def shows(self, name: str) -> dict[str, Any]:
        """Return what a figure shows, when it has come to rest."""
        return dict(self.move([{}])[0][name])

    def move(self, settings: list[dict[str, dict[str, int]]]) -> list[dict[str, Any]]:
        """Set controls of figures, each by the position of an option; return what all then show."""
        return list(self.page.evaluate(MOVE % (SEEN % OUT), settings))

    def stills(self) -> dict[str, Any]:
        """Return what figures show before scripts run, as `move` does for those that live."""
        return dict(self.page.evaluate(STILL % (SEEN % OUT)))

    def options(self, name: str) -> dict[str, int]:
        """Return how many positions each control of a figure has, by name."""
        count = """(figure) => Object.fromEntries(
          [...figure.querySelectorAll("fieldset [name]")].map((one) =>
            [one.name, one.type === "range" ? Number(one.max) + 1 : one.options.length]))"""
        return dict(self.figure(name).evaluate(count))

    def choices(self, name: str, control: str) -> list[str]:
        """Return the options of a list in a figure."""
        values = "(one) => [...one.options].map((option) => option.value)"
        return list(self.figure(name).locator(f"select[name={control}]").evaluate(values))

    def choose_model(self, path: Path) -> str:
        """Choose the config.json of a model; return what is said when it has been read."""
        figure = self.figure("model")
        said = figure.locator("[data-part=read]")
        if not said.is_visible():
            figure.locator("details:has([data-part=read]) > summary").click()
        figure.locator("input[type=file]").set_input_files(path)
        over = "(said) => said.textContent && !said.textContent.includes('…')"
        self.page.wait_for_function(over, arg=said.element_handle(), timeout=1000 * SECONDS)
        self.shows("model")  # waits until it rests
        return said.inner_text()
