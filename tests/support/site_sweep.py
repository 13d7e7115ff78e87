"""Visits every page of the site in one window, and notes what a reader would stumble over."""

import random
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import yaml
from figure_faults import changed_at_the_start, faults_of_a_page
from playwright.sync_api import Page, ViewportSize
from reader import Reader
from repository import ROOT
from site_browser import (
    COLORS,
    DESK,
    PHONE,
    SETTLED,
    SIDEWAYS,
    STICKING_OUT,
    UNCOVER,
    UNFOLD,
    UNNAMED,
    UNSET_MATHS,
    WIDE_MATHS,
    Traffic,
    axe,
    put_theme,
    put_width,
    ready,
)
from site_server import Server


def listed(contents: Any) -> Iterator[str]:
    """Yield the pages of a table of contents in order."""
    if isinstance(contents, list):
        for part in contents:
            yield from listed(part)
    elif isinstance(contents, dict):
        yield from (contents[key] for key in ("root", "file") if key in contents)
        for key in ("parts", "chapters", "sections"):
            yield from listed(contents.get(key, []))


WRITTEN = tuple(listed(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))))
CATALOGS = ROOT / "locale" / "zh_CN" / "LC_MESSAGES"
TRANSLATED = tuple(page for page in WRITTEN if (CATALOGS / f"{page}.po").exists())
# Language → the pages of the site; a host has one page for missing addresses, in all languages.
PAGES = {"en": (*WRITTEN, "404", "search"), "zh": (*WRITTEN, "search")}
COLD = 1_000_000  # compressed bytes of all files of a page: a second at 8 Mbit/s
FOLDERS = {"en": "", "zh": "zh/"}
LOOKS: dict[str, tuple[ViewportSize, str]] = {"desk": (DESK, "light"), "phone": (PHONE, "dark")}
# A page of each kind: axe takes seconds on a page, and others of a kind have the same parts.
KINDS = ("index", "chapters/introduction", WRITTEN[11])
# Looks as if all links had been followed: to scripts, a browser tells no color of those that were.
FOLLOWED = """() => {
  for (const rule of [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])) {
    if (rule.selectorText?.includes(":visited")) {
      rule.selectorText = rule.selectorText.replaceAll(":visited", ":link");
    }
  }
}"""

# English on a translated page: three words in a row. What the pages mark as English or quote (code
# and its output, works, data sheets with their address) may be there.
ENGLISH = """() => {
  const own = "code, pre, math, script, style, .citation, .bibtex-citation, .cell_output, "
    + "[lang=en], [hreflang]";
  const words = /(?:\\b[A-Za-z]{2,}\\b[ ,]+){2}\\b[a-z]{2,}\\b/;
  const isEnglish = (text) => words.test(text) && !/[\\u4e00-\\u9fff]/.test(text);
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    const parent = node.parentElement;
    if (!isEnglish(node.data) || parent.closest(own)) continue;
    if (parent.closest("p, li, td")?.querySelector("a[href^='https:']")) continue;
    found.push(node.data.trim());
  }
  const told = ["title", "aria-label", "alt", "placeholder", "aria-valuetext"];
  for (const element of document.querySelectorAll(told.map((name) => `[${name}]`).join())) {
    if (element.closest(own)) continue;
    found.push(...told.map((name) => element.getAttribute(name) ?? "").filter(isEnglish));
  }
  return [...new Set([...found, ...[document.title].filter(isEnglish)])];
}"""

# Definitions and headings behind a press.
COVERED = """() => [...document.querySelectorAll(
  ".guess-covered :is(math[display=block], h2, h3)")].map((e) => e.textContent)"""

# Cells of tables whose headings are not to be seen above them.
WITHOUT_HEADING = """() => [...document.querySelectorAll("main table")]
  .filter((table) => table.checkVisibility() && table.tHead && !table.tHead.checkVisibility())
  .flatMap((table) => [...table.tBodies].flatMap((body) => [...body.rows]))
  .flatMap((row) => [...row.cells].slice(1))
  .filter((cell) => cell.innerText.trim())
  .map((cell) => cell.textContent.trim().slice(0, 40)).slice(0, 3)"""

# Boxes that scroll sideways, and that no key reaches.
OUT_OF_REACH = """() => [...document.querySelectorAll("main *")]
  .filter((e) => e.scrollWidth > e.clientWidth + 1 && e.tabIndex < 0 && e.checkVisibility())
  .filter((e) => /auto|scroll/.test(getComputedStyle(e).overflowX))
  .filter((e) => !e.querySelector("a[href], button, input, [tabindex='0']"))
  .map((e) => e.outerHTML.slice(0, 90))"""

# Gives the right answer to each guess of the page; returns those that are not told to be right:
# whose words have another number than the answer's.
WRONG_GUESSES = """() => [...document.querySelectorAll(".answer")].flatMap((answer) => {
  const { name, kind, place } = answer.dataset;
  const parts = answer.querySelectorAll(kind === "choice" ? ".choice" : ".right");
  const right = parts[place ?? 0].textContent.trim();
  const form = document.querySelector(`form.guess[name="${name}"]`);
  if (kind === "number") {
    form.querySelector("input").value = /^[\\d.,]+/.exec(right)[0];
  } else {
    [...form.querySelectorAll("input")].find(({ value }) => value === right).checked = true;
  }
  form.querySelector("button").click();
  const folded = answer.nextElementSibling?.matches("details") ? answer.nextElementSibling : null;
  const said = folded ? folded.querySelector(".guess-told") : answer.nextElementSibling;
  const numbers = (text) => new Set(text.match(/\\d[\\d.,]*\\d|\\d/g));
  const others = [...numbers(said.textContent)].filter((one) => !numbers(right).has(one));
  return said.textContent.includes(right) && !others.length ? [] : [`${name}: ${said.textContent}`];
})"""


class Sweep:
    """What was found on the pages of a language: kind → lines that begin with the page.

    Pages are looked at on a desk in English, and on a phone in Chinese: a translation has the same
    layout and colors.
    thorough: look at all pages on both, and with axe at all of them, not only at one of each kind;
    and move figures often.
    """

    def __init__(
        self, page: Page, server: Server, language: str, *, thorough: bool = False
    ) -> None:
        self.page, self.server, self.language, self.thorough = page, server, language, thorough
        self.found: dict[str, list[str]] = defaultdict(list)
        self.traffic = Traffic().listen(page.context)
        self.reader = Reader(page, server.origin, self.traffic)

    def note(self, kind: str, name: str, lines: list[str]) -> None:
        self.found[kind] += [f"{name}: {line}" for line in lines]

    def visit(self, name: str) -> None:
        page = self.page
        with_axe = self.language == "en" and (self.thorough or name in KINDS)
        both = self.thorough or with_axe
        looks = ["desk", "phone"] if both else ["desk" if self.language == "en" else "phone"]
        size, theme = LOOKS[looks[0]]
        page.goto("about:blank")  # so that the previous page isn't laid out again
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size(size)
        self.traffic.clear()
        ready(page, f"{self.server.origin}/{FOLDERS[self.language]}{name}.html", covered=True)
        self.note("covered", name, page.evaluate(COVERED))
        page.evaluate(UNCOVER)
        weight = sum(self.server.size(url) for url in set(self.traffic.asked))
        self.note("heavy", name, [f"{weight:,} bytes"] if weight > COLD else [])
        page.evaluate(UNFOLD)
        page.evaluate(SETTLED)
        self.note("formulas", name, page.evaluate(UNSET_MATHS))
        self.note("unnamed", name, page.evaluate(UNNAMED))
        if self.language != "en":
            self.note("english", name, page.evaluate(ENGLISH))
        self.note("moved", name, [*changed_at_the_start(self.reader)])
        for look in looks:
            if look != looks[0]:
                put_theme(page, LOOKS[look][1])
                put_width(page, LOOKS[look][0])
            self.look(name, look, with_axe=with_axe)
        if with_axe:
            page.evaluate(FOLLOWED)
            put_theme(page, "dark")
            self.note("contrast", name, axe(page, only=COLORS))
        self.note("guesses", name, page.evaluate(WRONG_GUESSES))
        if self.language != "en":
            self.note("english", name, page.evaluate(ENGLISH))  # what is told about guesses
        page.evaluate("localStorage.clear()")
        self.note("errors", name, self.traffic.wrong)
        self.note("elsewhere", name, self.traffic.outside(self.server.origin))
        self.note("python", name, [url for url in self.traffic.asked if "pyodide" in url])

    def look(self, name: str, look: str, *, with_axe: bool) -> None:
        """Note what depends on the window's width and the theme."""
        page, place = self.page, f"{name}, {look}"
        sideways = page.evaluate(SIDEWAYS)
        self.note("overflow", place, [f"{sideways} px"] if sideways > 0 else [])
        self.note("overflow", place, page.evaluate(STICKING_OUT))
        draw = random.Random(f"{name} {self.language}")
        count = 40 if self.thorough else 2
        self.note("moved", place, [*faults_of_a_page(self.reader, draw, count, self.language)])
        if with_axe:
            self.note("axe", place, axe(page))
        if look == "phone":
            self.note("formulas", name, page.evaluate(WIDE_MATHS))
            self.note("headings", name, page.evaluate(WITHOUT_HEADING))
            self.note("keys", name, page.evaluate(OUT_OF_REACH))
