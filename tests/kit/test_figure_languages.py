"""Tests of figures in another language: all words translated, English kept."""

import gettext
import re
from collections.abc import Iterator
from contextlib import closing
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import live_pages
import pytest
from byte_figures import made_bytes
from drawn_figures import FIGURES, drawings, settings
from playwright.sync_api import Browser, BrowserContext
from series import in_part

import rooflib as rl
from roofkit import figures, words
from roofkit.figures import Figure
from roofkit.figures.engine.controls import Choice
from roofkit.figures.engine.figure import LANGUAGES
from rooflib.catalog import chips, models

CHINESE = "zh_CN"
TEXT = f"{live_pages.SVG}text"
TYPES = ("bf16", "fp32", "fp8", "int8", "int4", "fp4")
# Words that stay English: names of chips, links, models and types; units; names in code.
NAMES = {
    *(one.name for one in (*chips(more=True), *models())),
    *(link.name for chip in chips() for link in chip.links),
    *TYPES,
    *(f"{prefix}{unit}" for prefix in ("", *"kKMGTPE") for unit in ("FLOP", "OP", "B")),
    *("byte", "ms", "ns", "µs", "ps", "T_math", "T_comms", "T_HBM", "T_link"),
    *("HBM", "L2", "VMEM", "CMEM", "out", "MLP", "logits", "ReLU", "GELU", "token"),
    *("ReduceScatter", "AllGather", "AllReduce", "Python", "numpy", "notebook"),
    *("config.json", "Tab"),
}


class Words(HTMLParser):
    """A parser that collects the texts that a figure shows or has read aloud."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.hidden = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # Skip indices, as in T_math: they are parts of formulas.
        self.hidden = tag in ("script", "style", "sub")
        spoken = ("aria-label", "aria-valuetext", "data-wrong", "data-stop", "title")
        self.found += [value for name, value in attrs if name in spoken and value]

    def handle_endtag(self, tag: str) -> None:
        self.hidden = False

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.found.append(data)


def shown(figure: Figure) -> Iterator[str]:
    """Yield the texts of a figure: its page, drawings and sentences.

    Drawings and sentences are those of each setting.
    """
    page = Words()
    page.feed(figure.html())
    yield from page.found
    for _, svg in drawings(figure):
        yield from (one.text or "" for one in ElementTree.fromstring(svg).iter())
    for _, chosen in settings(figure):
        yield from figure.texts(**chosen).values()


def english(text: str, names: set[str]) -> list[str]:
    """Return the words of a text that are neither Chinese nor names."""
    left = re.sub(r"\{\w+\}", "", text)
    for name in sorted(names, key=len, reverse=True):
        left = left.replace(name, "")
    return list(re.findall(r"[a-z]{2,}", left, re.IGNORECASE))


class Emptied(gettext.NullTranslations):
    """Translations that keep only placeholders, so that unmarked words stand out."""

    def gettext(self, message: str) -> str:
        lines = (" ".join(re.findall(r"\{\w+\}", line)) for line in message.split("\n"))
        return "\n".join(f"〖{line}〗" for line in lines)


@pytest.fixture
def emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "translations", lambda _: Emptied())


def made(name: str) -> list[Figure]:
    return list(made_bytes().values()) if name == "byte" else [FIGURES[name]()]


@pytest.mark.parametrize("name", in_part(FIGURES))
@pytest.mark.usefixtures("emptied")
def test_every_word_of_a_figure_is_marked_for_translation(name: str) -> None:
    with words.spoken("xx"):
        for figure in made(name):
            known = NAMES | given_names(figure)
            assert {(w, text) for text in shown(figure) for w in english(text, known)} == set()


@pytest.mark.parametrize("name", in_part(FIGURES))
def test_a_chinese_figure_has_no_english_word(name: str) -> None:
    with words.spoken(CHINESE):
        for figure in made(name):
            known = NAMES | given_names(figure)
            assert {(w, text) for text in shown(figure) for w in english(text, known)} == set()


def given_names(figure: Figure) -> set[str]:
    """Return the names of operations that only the figures of these tests have."""
    return {"no FLOPs", "too large"} if figure.name == "byte" else set()


def test_a_cell_shows_its_figure_in_the_languages_that_the_build_asks_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(figures.PAGE, "page")
    alone = figures.time()._repr_mimebundle_()
    monkeypatch.setenv(LANGUAGES, CHINESE)
    both = figures.time()._repr_mimebundle_()
    kind = "application/vnd.roofline.zh-CN+html"
    with words.spoken(CHINESE):
        chinese = figures.time().html()
    assert "下界" in chinese
    assert both == {**alone, kind: chinese}
    own = figures.time().with_own(peak=1e12)._repr_mimebundle_()
    assert "1000000000000.0" in own[kind].split('"own":')[0]
    assert "下界" in own[kind]


def test_reasons_why_a_layout_is_impossible_are_translated() -> None:
    with words.spoken(CHINESE):
        chinese = figures.model().given["shapes"]
    for name, row in figures.model().given["shapes"].items():
        for kind in ("refusals", "refusals_whole", "refusals_spread"):
            for reason, translated in zip(row[kind], chinese[name][kind], strict=True):
                assert bool(reason) == bool(translated)
                assert english(translated, NAMES | {"vocabulary"}) == []
    reasons = [reason for row in chinese.values() for reason in row["refusals"] if reason]
    assert reasons
    assert "chips must divide" in str(figures.model().given["shapes"])


def test_names_that_chapters_give_operations_are_translated() -> None:
    with words.spoken(CHINESE):
        figure = figures.byte({"decode, G = 4": rl.dot(10), "large batch": rl.matmul(1, 2, 3)})
        alone = figures.byte(rl.attention(1, 1, 8, 4, 2, 16), "H100 SXM")
    assert figure.controls[0].texts == ["解码\uff0cG = 4", "大批"]
    assert "解码\uff0cG = 4" in figure.texts()["says"]
    assert "注意力" in alone.texts()["says"]


def test_a_widget_has_chinese_words_and_the_same_settings() -> None:
    with words.spoken(CHINESE):
        figure = figures.model()
        shown = figure.widget.children[-1]
        (experts,) = [w for w in folded_inputs(figure) if w.description == "专家"]
        experts.value = "whole on a chip"
    assert figure.settings["experts"] == "whole on a chip"
    assert "没有路由专家" not in shown.value
    assert [label for label, _ in experts.options] == ["切分到各芯片", "整个放在一块芯片上"]


def folded_inputs(figure: Figure) -> list[Any]:
    sections = [w for w in figure.widget.children if type(w).__name__ == "Accordion"]
    return list(sections[0].children[0].children)


def test_a_figure_keeps_the_language_in_which_it_was_made() -> None:
    with words.spoken(CHINESE):
        figure = figures.ring()
        expected = figures.ring().svg(), figures.ring().html()
    assert (figure.svg(), figure.html()) == expected


def test_choices_have_the_same_values_in_all_languages() -> None:
    with words.spoken(CHINESE):
        figure = figures.model()
    english = figures.model()
    chosen: dict[str, Any] = {"chip": "my own chip", "experts": "whole on a chip", "w": "as stored"}
    assert figure.values(**chosen)["lower"] == english.values(**chosen)["lower"]
    assert [c.options for c in figure.controls] == [c.options for c in english.controls]
    (phase,) = (control for control in figure.controls if control.name == "phase")
    assert phase.texts == ["解码", "预填充"]


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    with closing(browser.new_context()) as context:
        yield context


@pytest.mark.parametrize(
    "name",
    [
        "model",
        "chips",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("shards", "units", "matmul_blocks")
        ),
    ],
)
def test_a_chinese_page_shows_the_same_texts_as_python(context: BrowserContext, name: str) -> None:
    with words.spoken(CHINESE):
        figure = FIGURES[name]()
    page = live_pages.opened(context, figure)
    for control in figure.controls[:4]:
        if isinstance(control, Choice):
            last = control.options[-1]
            page.locator(f"select[name={control.name}]").select_option(last)
            found = live_pages.settled(page, figure.name)
            expected = figure.texts(**{control.name: last})
            assert found.locator(".live-says").text_content() == expected["says"]
            width = found.locator(".live-picture > div").evaluate("place => place.clientWidth")
            svg = figure.svg(width=width, **{control.name: last})
            drawn = found.locator(".live-picture svg text").all_text_contents()
            assert drawn == [one.text or "" for one in ElementTree.fromstring(svg).iter(TEXT)]
            page.locator(f"select[name={control.name}]").select_option(control.start)
    page.close()
