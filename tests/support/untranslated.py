"""English that a page in Chinese shows rightly, since nobody has translated it yet."""

import re
from collections.abc import Iterator
from functools import cache

import yaml
from book_extension import exercise_pages
from book_extension.languages import catalogs, code_words
from repository import ROOT

CHINESE = catalogs.folder(ROOT, "zh_CN")
PLACE = re.compile(r"\{[^}]*\}")


def without(text: str) -> str:
    """Return what is left of a text without messages that have no translation."""
    for message in patterns():
        text = message.sub("", text)
    return text


@cache
def patterns() -> list[re.Pattern[str]]:
    """Return the messages without a translation, longest first, with any value at each place."""
    in_code = catalogs.of_code(CHINESE, "zh_CN", notebooks=True)
    left = {one for found in code_words.words(ROOT).values() for one in found if one not in in_code}
    files = (CHINESE / f"{name}.po" for name in catalogs.names(CHINESE))
    written = (one for file in files for one in catalogs.messages(catalogs.read(file)))
    left |= {*of_pages()} - {one.id for one in written if catalogs.is_current(one)}
    return [
        re.compile(".*?".join(map(re.escape, PLACE.split(one))), re.DOTALL)
        for one in sorted(filter(has_words, left), key=len, reverse=True)
    ]


def of_pages() -> Iterator[str]:
    """Yield what is shown of a page elsewhere: its title, its description, a chapter's question."""
    for file in (ROOT / "index.md", *ROOT.glob("chapters/*.md"), *exercise_pages.files(ROOT)):
        text = exercise_pages.markdown_of(file)
        top = next(yaml.safe_load_all(text))
        yield top.get("question", "")
        yield top.get("myst", {}).get("html_meta", {}).get("description", "")
        yield from re.findall(r"^# (.+)$", text, re.MULTILINE)[:1]


def has_words(message: str) -> bool:
    return bool(re.search("[A-Za-z]{2}", PLACE.sub("", message)))
