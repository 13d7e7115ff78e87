"""English that a page in Chinese shows rightly, since nobody has translated it yet."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import yaml
from book_extension import exercise_pages
from book_extension.languages import catalogs, code_words
from repository import ROOT

CHINESE = catalogs.folder(ROOT, "zh_CN")
CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
PLACE = re.compile(r"\{[^}]*\}")


def without(text: str) -> str:
    """Return what is left of a text without messages that have no translation."""
    for message in patterns():
        text = message.sub("", text)
    return text


@cache
def patterns() -> list[re.Pattern[str]]:
    """Return the messages without a translation, longest first, with any value at each place."""
    of_code = code_words.words(ROOT).items()
    left = {one for name, found in of_code for one in set(found) - current(Path(name))}
    return [
        # A page takes the space out between a Chinese full stop and what follows.
        re.compile(".*?".join(map(re.escape, PLACE.split(one))).replace(r"\ ", r"\s*"), re.DOTALL)
        for one in sorted(filter(has_words, left.union(of_pages())), key=len, reverse=True)
    ]


def of_pages() -> Iterator[str]:
    """Yield what lists show of pages: headings, descriptions and, on the home page, questions."""
    for file in (ROOT / "index.md", *ROOT.glob("chapters/*.md"), *exercise_pages.files(ROOT)):
        text = exercise_pages.markdown_of(file)
        top = next(yaml.safe_load_all(text))
        question = top.get("question", "")
        described = top.get("myst", {}).get("html_meta", {}).get("description", question)
        headings = re.findall(r"^#+ (.+)$", CODE.sub("", text), re.MULTILINE)
        yield from {*headings, described} - current(file.relative_to(ROOT))
        yield from {question} - current(Path("index"))


def current(page: Path) -> set[str]:
    """Return the messages of a page that are translated."""
    file = CHINESE / page.with_suffix(".po")
    written = catalogs.messages(catalogs.read(file)) if file.exists() else ()
    return {str(one.id) for one in written if catalogs.is_current(one)}


def has_words(message: str) -> bool:
    return bool(re.search("[A-Za-z]{2}", PLACE.sub("", message)))
