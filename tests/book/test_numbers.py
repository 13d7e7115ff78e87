"""No number in the book is typed by hand, and the scanner finds those that are."""

import ast
import tomllib

import pytest
from book_extension.prose import expressions
from repository import HEADER, ROOT
from stray_numbers import phrase_pattern, readable, stray_numbers, texts

PAGES = [
    ROOT / "index.md",
    *sorted(ROOT.glob("chapters/*.md")),
    *sorted(ROOT.glob("exercises/*/*.md")),
    *sorted(ROOT.glob("slides/*.md")),
]
ENTRIES = tomllib.loads((ROOT / "tests/book/allowed_numbers.toml").read_text()).get("allowed", [])
ALLOWED = tuple(entry["text"] for entry in ENTRIES)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_every_number_comes_from_a_cell(page) -> None:
    strays = stray_numbers(page.read_text(encoding="utf-8"), ALLOWED)
    name = page.relative_to(ROOT)
    assert not strays, "".join(f"\n{name}:{s.line}: {s.number}" for s in strays)


def typed_by_hand(page: str) -> list[str]:
    """Return the {eval} expressions without names: their numbers are typed by hand."""
    return [
        expression
        for expression, _ in expressions(page)
        if not any(
            isinstance(node, ast.Name) for node in ast.walk(ast.parse(expression, mode="eval"))
        )
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_every_eval_expression_uses_a_name(page) -> None:
    assert typed_by_hand(page.read_text(encoding="utf-8")) == []


def test_a_number_typed_by_hand_inside_an_eval_is_found() -> None:
    page = HEADER + "\n{eval}`f'{240}'`, {eval}`8`, {eval}`ridge`, {eval}`f'{ridge:.1f}'`\n"
    assert typed_by_hand(page) == ["f'{240}'", "8"]


def test_every_allowed_number_is_used_and_has_a_reason() -> None:
    pages = [page.read_text(encoding="utf-8") for page in PAGES]
    prose = "\n".join(readable(text) for page in pages for _, text in texts(page))
    for entry in ENTRIES:
        assert entry["reason"].strip(), entry
        assert phrase_pattern(entry["text"]).search(prose), f"nothing says {entry['text']!r}"


PLANTED = {
    "prose": ("It has 240 of them.", ["240"]),
    "unit behind a space": ("At 3.35 TB/s it runs.", ["3.35"]),
    "unit attached": ("After 50ms or 20% or 7.4×.", ["50ms", "20%", "7.4×"]),
    "separators": ("At least 8,756, they say.", ["8,756"]),
    "exponent": ("Peak: 1e12 or 9.89E+14 FLOP/s.", ["1e12", "9.89E+14"]),
    "power": ("About 10^12 FLOPs.", ["10", "12"]),
    "superscript": ("About 10¹² FLOPs.", ["10¹²"]),
    "fraction sign": ("Only ½ FLOP/byte.", ["½"]),
    "hyphenated": ("An 8-bit type.", ["8-bit"]),
    "year": ("Found in 1995.", ["1995"]),
    "table": ("| chip | ridge |\n|---|---|\n| v5e | 241 |", ["241"]),
    "heading": ("## Why 240 is wrong", ["240"]),
    "admonition title": (":::{admonition} A chip of 2 TB\nYes.\n:::", ["2"]),
    "admonition body": ("```{note}\nIt is 99 MB.\n```", ["99"]),
    "nested panel": ("::::{tip}\n:::{dropdown} A\nIt is 99.\n:::\n::::", ["99"]),
    "list": ("1. first\n2. takes 7 s\n", ["7"]),
    "emphasis": ("**12** and *13*", ["12", "13"]),
    "link text": ("[the 44 rows](https://example.org/55)", ["44"]),
    "maths": ("It is $D > 8756$ or $$T = \\frac{4B}{3.35}$$.", ["8756", "4B", "3.35"]),
    "maths directive": ("```{math}\n:label: eq-9\nx = 243\n```", ["243"]),
    "maths role": ("{math}`x = 77`", ["77"]),
    "figure's caption": (
        '```{code-cell} ipython3\n---\nmystnb:\n  figure:\n    caption: "Up to 512 tokens"\n'
        "  image:\n    alt: Bars of 300 ms.\n---\nx = 400\n```",
        ["512", "300"],
    ),
    "markdown figure": (
        "```{figure} images/plot-3.svg\n:alt: Has 66.\nAbout 67.\n```",
        ["66", "67"],
    ),
    "chapter of a decimal": ("see chapter 3.35", ["3.35"]),
}


@pytest.mark.parametrize("where", PLANTED)
def test_a_number_typed_by_hand_is_found_in_every_kind_of_text(where: str) -> None:
    text, figures = PLANTED[where]
    assert [s.number for s in stray_numbers(HEADER + "\n# Page\n\n" + text + "\n")] == figures


def test_the_line_of_a_number_typed_by_hand_is_reported() -> None:
    text = "\n# Page\n\nOne.\n\n```{code-cell} ipython3\nx = 5\n```\n\n\nTwo:\n44.\n"
    line = (HEADER + text).splitlines().index("44.") + 1
    assert [s.line for s in stray_numbers(HEADER + text)] == [line]


CLEAN = {
    "computed": 'It takes {eval}`f"{t * 1e3:.2f} ms"` here.',
    "names": "bf16, int8, fp32, TPU v5e, v6e, H100, TPU7x, float8_e4m3, log2 and x1.5",
    "code": "`x = 5` and `` {eval}`6` `` and\n\n```python\nx = 7\n```\n",
    "cell": "```{code-cell} ipython3\n:tags: [hide-input]\nx = 8\n```",
    "roles": "{cite:p}`williams2009`, {ref}`Part 9 <part-9>`, {numref}`fig-10`, {doc}`c11`",
    "links": "[text](#eq-12), <https://example.org/13>, https://example.org/14",
    "labels": "(section-15)=\n## Heading",
    "options": ":::{dropdown} Title\n:name: d-16\n:class: w-17\nText.\n:::",
    "comments": "% 18 to do\n\n<!-- 19 -->",
    "footnotes": "Text.[^20]\n\n[^20]: Note.",
    "lists": "1. first\n2. second\n10) tenth",
    "parts of the book": "chapter 4, Exercises 1–5, chapters 1, 2 and 3, Part 0, table 2.",
    "maths": r"$\frac{2BF}{W}$, $x_3 = 10 ^ {12}$".replace("10", "y") + r" and $a^{-3} + 2 - 1$",
}


@pytest.mark.parametrize("what", CLEAN)
def test_text_without_numbers_typed_by_hand_passes(what: str) -> None:
    assert stray_numbers(HEADER + "\n# Page\n\n" + CLEAN[what] + "\n") == []


def test_allowed_phrases_match_only_as_whole_words() -> None:
    page = HEADER + "\n# Page\n\n8-bit, 18-bit, 8-bits, 52(4), 1995, 1995.5\n"
    left = [s.number for s in stray_numbers(page, ("8-bit", "52(4)", "1995"))]
    assert left == ["18-bit", "8-bits", "1995.5"]
