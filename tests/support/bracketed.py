"""Pseudo-translation whose messages are their English in brackets 〖…〗.

English text outside of brackets was not translated.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from babel.messages import Catalog
from book_extension.languages import catalogs
from commands.build import PYODIDE, code_digest
from playwright.sync_api import Page
from repository import ROOT
from whole_site import files_of_python

LANGUAGE = "zh_CN"
# A {while} role must stay at the beginning of its message, before the bracket.
PREMISE = re.compile(r"(\{while\}`[^`]*`)?(.*)", re.DOTALL)

# Texts and attributes outside of brackets, each with its element. A message may contain elements,
# and values that are messages, so brackets are counted along the whole page.
OUTSIDE = """(areas) => {
  const found = [];
  const place = (element) => {
    const named = element.closest("[id]");
    const name = [element.tagName.toLowerCase(), ...element.classList].join(".");
    return `${name} in #${named?.id ?? ""}`;
  };
  let depth = 0;
  const outside = (text) => {
    let rest = "";
    for (const sign of text) {
      if (sign === "〖") depth += 1;
      else if (sign === "〗") depth -= 1;
      else if (depth === 0) rest += sign;
    }
    return rest;
  };
  const skipped = (element) => element.closest(areas) !== null;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    if (parentElement.closest("script, style, template, noscript")) continue;
    const rest = outside(data);
    if (!/\\p{L}/u.test(rest) || skipped(parentElement)) continue;
    if (!parentElement.checkVisibility({ visibilityProperty: true })) continue;
    found.push([rest.trim(), place(parentElement)]);
  }
  if (depth !== 0) found.push([`${depth} brackets are open`, ""]);
  for (const name of ["aria-label", "title", "alt", "placeholder", "data-ask"]) {
    for (const element of document.querySelectorAll(`[${name}]`)) {
      depth = 0;
      const rest = outside(element.getAttribute(name));
      if (!/\\p{L}/u.test(rest) || skipped(element)) continue;
      found.push([rest.trim(), `${name} of ${place(element)}`]);
    }
  }
  found.push([document.title.replace(/〖[^〗]*〗/g, ""), "title"]);
  return found;
}"""


def bracketed(message: str) -> str:
    premise, rest = PREMISE.fullmatch(message).groups()  # type: ignore[union-attr]
    return f"{premise or ''}〖{rest}〗"


def write_catalogs(source: Path, target: Path) -> None:
    """Copy a folder's catalogs, with each message in brackets as its translation."""
    for name in catalogs.names(source):
        made = Catalog(locale=LANGUAGE)
        for message in catalogs.messages(catalogs.read((source / name).with_suffix(".po"))):
            made.add(message.id, bracketed(str(message.id)))
        catalogs.write(made, (target / name).with_suffix(".po"))


def build(book: Path, folder: Path) -> Path:
    """Build a book's site in brackets, from cached cell outputs; return its folder."""
    write_catalogs(catalogs.folder(book, LANGUAGE), folder / "catalogs")
    cache = book / "_build" / ".jupyter_cache" / code_digest(book)
    command = [sys.executable, str(ROOT / "site"), "translated", LANGUAGE, str(book), str(cache)]
    command += ["--catalogs", str(folder / "catalogs"), "--output", str(folder / "build")]
    environment = os.environ | {PYODIDE: str(files_of_python())}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder / "build" / "html"


def forgotten(page: Page, areas: list[str], words: set[str]) -> list[str]:
    """Return the words that a page shows outside brackets, with text and element.

    areas: selectors of elements to skip. words: words allowed outside brackets.
    """
    pairs: list[Any] = page.evaluate(OUTSIDE, ", ".join(areas))
    found = []
    for text, place in pairs:
        for word in re.findall(r"[A-Za-z][A-Za-z0-9'’-]+", text):
            if word not in words:
                found.append(f"{word}: “{text}” ({place})")
    return found
