"""A figure as HTML before any script runs, by the page's script itself in an embedded engine."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import quickjs

# Strings go in and out as JSON: the engine's Python side can't read strings that were just joined.
IN_JSON = """((inside) => (name, given, words, own) =>
  JSON.stringify(inside(name, JSON.parse(given), JSON.parse(words), own)))"""


@cache
def engine(script: str) -> Any:
    """Return the function of the figures' script that gives what is inside a figure."""
    return quickjs.Context().eval(f"{IN_JSON}({script})")


def inside(script: str, name: str, given: str, words: Mapping[str, str], own: bool) -> str:
    """Return what is inside a figure, in the language of `words`; `given` is JSON.

    own: whether the reader may type a chip there.
    """
    return str(json.loads(engine(script)(name, given, json.dumps(words, ensure_ascii=False), own)))
