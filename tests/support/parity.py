"""Checks that a translation keeps its message's parts and has the words for terms."""

import calendar
import re
from collections import Counter
from collections.abc import Mapping, Sequence

ROLE = re.compile(r"\{(?P<name>[\w:+-]+)\}`(?P<text>[^`]*)`")
TITLED = re.compile(r"(?P<title>.*?)\s*<(?P<target>[^<>]+)>", re.DOTALL)
LINK = re.compile(r"(?<!!)\[(?P<title>[^\]]*)\]\((?P<target>[^)\s]+)\)|<(?P<bare>https?:[^>]+)>")
FORMULA = re.compile(r"(?<!\\)\$[^$]+\$")
CODE = re.compile(r"(?<![`}])`[^`]+`")
TAG = re.compile(r"</?[a-z][^<>]*>")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# Names of months in dates; Chinese writes them as numbers.
MONTH = re.compile(rf"\b({'|'.join(calendar.month_name[1:])})(?= (?:\d{{4}}|\{{year\}}))")
# Roles whose whole text a translation must keep; of other roles, it must keep only the target.
VALUES = {"eval", "math", "code"}
VALUE = "\ufffc"  # stands for a value or a piece of code in a text


def parts(message: str) -> dict[str, Counter[str]]:
    """Return the roles, links, formulas etc. that a translation must keep, by kind."""
    roles = list(ROLE.finditer(message))
    found = {"roles": Counter(f"{role['name']} {target(role)}" for role in roles)}
    text = MONTH.sub(number_of_month, ROLE.sub(shown, message))
    found["links"] = Counter(link["target"] or link["bare"] for link in LINK.finditer(text))
    text = LINK.sub(lambda link: link["title"] or "", text)
    found["formulas"] = Counter(FORMULA.findall(text))
    found["code"] = Counter(CODE.findall(FORMULA.sub("", text)))
    tags = TAG.findall(CODE.sub("", FORMULA.sub("", text)))
    found["tags"] = Counter(tag.replace('"', "") for tag in tags)
    found["numbers"] = Counter(NUMBER.findall(CODE.sub("", FORMULA.sub("", text))))
    found["placeholders"] = Counter(re.findall(r"%[ds]|\{\w*\}", text))
    return found


def number_of_month(month: re.Match[str]) -> str:
    return str(list(calendar.month_name).index(month[0]))


def target(role: re.Match[str]) -> str:
    if role["name"] in VALUES:
        return role["text"]
    titled = TITLED.fullmatch(role["text"])
    return (titled["target"] if titled else role["text"]).casefold()


def shown(role: re.Match[str]) -> str:
    """Return the words that a role shows, if the message itself contains them."""
    if role["name"] in VALUES:
        return ""
    titled = TITLED.fullmatch(role["text"])
    if titled:
        return titled["title"]
    return role["text"] if role["name"] == "term" else ""


def differences(english: str, chinese: str) -> list[str]:
    """Return a line for each kind of part in which message and translation differ."""
    one, other = parts(english), parts(chinese)
    return [
        f"{kind}: {dict(one[kind] - other[kind])} missing, {dict(other[kind] - one[kind])} added"
        for kind in one
        if one[kind] != other[kind]
    ]


def plain(message: str) -> str:
    """Return a message's words, with a mark for each value, formula and code."""
    text = ROLE.sub(lambda role: shown(role) or VALUE, message)
    text = LINK.sub(lambda link: link["title"] or VALUE, text)
    text = TAG.sub("", CODE.sub(VALUE, FORMULA.sub(VALUE, text)))
    return re.sub(r"\*+", "", re.sub(r"\{\w+\}|%[ds]", VALUE, text))


def wrong_terms(english: str, chinese: str, terms: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the terms of a message, in singular or plural, for which Chinese has other words.

    The term itself may stand there: a name in code.
    """
    text, words = plain(english), plain(chinese).casefold()
    return [
        f"{term}: none of {', '.join(allowed)}"
        for term, allowed in terms.items()
        if re.search(rf"(?<![\w-]){re.escape(term)}(?:e?s)?(?![\w-])", text, re.IGNORECASE)
        and not any(word.casefold() in words for word in (term, *allowed))
    ]
