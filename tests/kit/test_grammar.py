"""No figure says "1 FLOPs", "1 times" or "1 chips", wherever its controls stand."""

import random
import re
from collections.abc import Iterator
from html import unescape

import pytest
from byte_figures import made_bytes
from series import in_part, series

from roofkit import figures
from roofkit.figures import Figure
from roofkit.figures.engine.own_chip import OWN, QUANTITIES

NOUNS = (
    "FLOPs|times|chips|bytes|tokens|elements|steps|slices|rows|columns|tiles|pieces|heads|"
    "sequences|positions|neighbors|arrays|sums|shards|FLOP/bytes|seconds"
)
SINGULAR = re.compile(rf"(?<![\d.,])1[ \N{{NO-BREAK SPACE}}]({NOUNS})\b")
FIGURES = {name: getattr(figures, name)() for name in figures.__all__ if name.islower()}
FIGURES |= {f"byte, {name}": figure for name, figure in made_bytes().items()}
# A chip with ridge points of exactly one FLOP/byte, for HBM and for the link.
EVEN = {"peak": 1e9, "bandwidth": 1e9, "memory": 1e9, "link": 1e9}


def owned(figure: Figure) -> list[Figure]:
    """Return the figure, and a copy for each of three chips that a reader may enter.

    A figure without chips has no copies.
    """
    low = {name: q.low * q.factor for name, q in QUANTITIES.items()}
    high = {name: q.high * q.factor for name, q in QUANTITIES.items()}
    return [figure, *(figure.with_own(**own) for own in (EVEN, low, high) if figure.own)]


def walk(figure: Figure, own: bool, count: int) -> Iterator[dict[str, object]]:
    """Yield each control's first two and last options, then `count` random settings."""
    draw = random.Random(figure.name)
    start = {c.name: c.start for c in figure.controls}
    if own:
        start |= {c.name: OWN for c in figure.controls if OWN in c.options}
    ends = [{c.name: c.options[at]} for c in figure.controls for at in (0, 1 % len(c.options), -1)]
    yield from (start | end for end in ({}, *ends))
    for _ in range(count):
        drawn = {c.name: draw.choice(c.options) for c in figure.controls}
        yield drawn | {name: at for name, at in start.items() if own and at == OWN}


@pytest.mark.parametrize("name", in_part(FIGURES))
@series(1, 60)
def test_the_number_1_is_followed_by_a_singular(name: str, count: int) -> None:
    for figure in owned(FIGURES[name]):
        for settings in walk(figure, figure is not FIGURES[name], count):
            said = list(figure.texts(**settings).values())
            picture = re.findall(r"<text[^>]*>([^<]*)", figure.svg(**settings))
            for words in [*said, *map(unescape, picture)]:
                assert not SINGULAR.search(words), (words, settings)
            for control in figure.controls:
                for words in getattr(control, "texts", ()):
                    assert not SINGULAR.search(words), control.name


@pytest.mark.parametrize(
    "words", ["1 FLOPs", "used 1 times", "on 1 chips", "1\N{NO-BREAK SPACE}tokens"]
)
def test_the_pattern_finds_a_plural_after_1(words: str) -> None:
    assert SINGULAR.search(words)
    assert not SINGULAR.search(words.replace("1", "1.1"))
    assert not SINGULAR.search(words.replace("1", "21"))
