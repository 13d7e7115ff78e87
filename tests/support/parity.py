"""Checks that a translation keeps its message's parts and obeys rules of style."""

import calendar
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

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
HAN = "\u3400-\u4dbf\u4e00-\u9fff"
VALUE = "\ufffc"  # stands for a value or a piece of code in a text
SENTENCE = re.compile(r"(?<=[.?!])(?<!\d\.)[)”]*\s+(?=[A-Z{“$(])|(?<=[。？！])[）”]*(?=.)")
PLACE = r"(\{\w+\})(?!`)"
PIECE = r"(\{eval\}`[^`]*`|\{\w+\}(?!`))"
# Of each: what it is done to stands behind it in both languages, where anything does.
VERBS = {"loads?": "加载", "sends?": "发送", "computes?": "计算", "reads?": "读"}
VERBS["holds?"] = "(?<![内显缓])存"

# Words that stand in each other's place: English, what else it may have, right and wrong Chinese.
OPPOSITES = (
    ("at most", "at least", "至多|最多|不超过|上限", "至少"),
    ("inputs?", "output|print|result", "输入", "输出"),
    ("outputs?", "input|typ(?:e|ing)|enter", "输出|结果", "输入"),
    ("rows?", "column", "行", "[一每各]列"),
    ("columns?", "row|line", "列|栏", "[一每各]行"),
)

# Rules of style: pattern that a translation must not contain → what is wrong with it.
STYLE = {
    rf"[{HAN}] +[{HAN}]": "a space between Chinese characters",
    rf"[{HAN}] *[,;:?!]|[,;:?!] *[{HAN}]": "half-width punctuation",
    rf"[{HAN}][A-Za-z0-9{VALUE}]|[A-Za-z0-9{VALUE}][{HAN}]": "no space between Chinese and Latin",
    r" [，。；：？！（）、“”]|[，。；：？！（）、“”] ": "a space beside full-width punctuation",
    r"您": "您 instead of 你",
    r"[\"']": "straight quotes",
    r"——": "a dash",
}


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
    return [*opposed(english, chinese)] + [
        f"{kind}: {dict(one[kind] - other[kind])} missing, {dict(other[kind] - one[kind])} added"
        for kind in one
        if one[kind] != other[kind]
    ]


def opposed(english: str, chinese: str) -> Iterator[str]:
    for word, other, right, wrong in OPPOSITES:
        is_alone = re.search(rf"\b{word}\b", english, re.I) and not re.search(other, english, re.I)
        if is_alone and not re.search(right, chinese) and (found := re.search(wrong, chinese)):
            yield f"{word} is {found[0]} in Chinese"


def plain(message: str) -> str:
    """Return a message's words, with a mark for each value, formula and code."""
    text = ROLE.sub(lambda role: shown(role) or VALUE, message)
    text = LINK.sub(lambda link: link["title"] or VALUE, text)
    text = TAG.sub("", CODE.sub(VALUE, FORMULA.sub(VALUE, text)))
    return re.sub(r"\*+", "", re.sub(r"\{\w+\}|%[ds]", VALUE, text))


def style(chinese: str, english: str) -> list[str]:
    """Return the rules of style that a translation breaks."""
    text = plain(chinese)
    # Skip quoted English titles, which keep their punctuation.
    text = re.sub(r"“[A-Za-z][^”]*”", "", text)
    # Texts for arguments, listed behind an argument's name, keep Python's quotes.
    if re.match(r"\w+(?:, \w+)*: ", english):
        for argument in set(re.findall(r'"[^"]+"', english)):
            text = text.replace(argument, VALUE)
    return [
        f"{said}: {found[0]}" for rule, said in STYLE.items() if (found := re.search(rule, text))
    ]


def terms_in(english: str, terms: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the terms that an English text has, in the singular or plural."""
    text = plain(english)
    return {
        term
        for term in terms
        if re.search(rf"(?<![\w-]){re.escape(term)}(?:e?s)?(?![\w-])", text, re.IGNORECASE)
    }


def translated_in(chinese: str, terms: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the terms of which a text has an allowed word, or the term itself, a name in code."""
    words = plain(chinese).casefold()
    return {
        term
        for term, allowed in terms.items()
        if any(word.casefold() in words for word in (term, *allowed))
    }


def wrong_terms(english: str, chinese: str, terms: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the English message's terms that the Chinese one doesn't translate."""
    missing = terms_in(english, terms) - translated_in(chinese, terms)
    return [f"{term}: none of {', '.join(terms[term])}" for term in sorted(missing)]


def values_in(text: str) -> set[str]:
    values = {role[0] for role in ROLE.finditer(text) if role["name"] in VALUES}
    return values | {*re.findall(PLACE, text), *FORMULA.findall(text)}


def exchanged(english: str, chinese: str, terms: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield what stands in each other's place: in two sentences, or as a part and its whole."""
    one, other = SENTENCE.split(english), SENTENCE.split(chinese)
    pairs = list(zip(one, other, strict=True)) if len(one) == len(other) > 1 else []
    for marks in (
        [(values_in(text), values_in(said)) for text, said in pairs],
        [(terms_in(text, terms), translated_in(said, terms)) for text, said in pairs],
    ):
        for (a, b), (c, d) in combinations(marks, 2):
            if (later := (a - c - b) & d) and (earlier := (c - a - d) & b):
                yield f"{sorted(later)} and {sorted(earlier)} are exchanged"
    # Chinese names the whole first, or says which it is: 3/5, 共 5, 满分 5.
    for part, whole in re.findall(rf"{PLACE} of (?:the |all )?{PLACE}", english):
        if re.search(rf"{re.escape(part)}[^/共满总全]*{re.escape(whole)}", chinese):
            yield f"{part} stands where {whole} should"
    for verb, word in VERBS.items():
        one = {*re.findall(rf"\b{verb} {PIECE}", english)}
        other = {*re.findall(rf"{word} {PIECE}(?! ?的)", chinese)}  # a part of it comes later
        if one and other and one.isdisjoint(other):
            yield f"{sorted(other)} stand where {sorted(one)} should"
