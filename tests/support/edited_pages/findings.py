"""What is wrong with the blocks of a page that follow an edit."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from book_extension.prose import Block

import rooflib as rl

from .edits import Edit
from .page import EditedPage, Shown, typed_text

# Words whose truth depends on values.
VERDICTS = re.compile(
    r"""\b(?:less|more|fewer|faster|slower|longer|shorter|larger|smaller|higher|lower|greater|
    bigger|wider|cheaper|earlier|later|better|worse|most|least|fastest|slowest|longest|shortest|
    largest|smallest|highest|lowest|best|worst|half|twice|double|third|quarter|times|above|below|
    beyond|within|under|over|exceeds?|only|all|both|none|neither|every|each|never|always|no|not|
    can’t|doesn’t|don’t|isn’t|fits?|binds?|bound|limits?|waits?|holds?\ back|enough|same|equal|
    equally|almost|nearly|exactly|first|last|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|
    dozen|hundred|thousand|million|billion|trillion)\b""",
    re.VERBOSE | re.IGNORECASE,
)
# A 1 before a plural, as in "1 chips".
ONE_OF_MANY = re.compile(r"(?<![\d.,–-])1[ \N{NO-BREAK SPACE}](?P<what>[A-Za-z]{2,}s)\b")
SINGULAR = {"as", "bus", "gas", "has", "is", "its", "less", "this", "was", "ms", "us", "ns"}
PREFIXES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
PREFIXES |= {"m": 1e-3, "µ": 1e-6, "n": 1e-9}
NUMBER = re.compile(
    r"(?P<digits>\d[\d,]*(?:\.\d+)?)(?:e(?P<e>[+-]?\d+)|×10(?P<power>[⁰¹²³⁴-⁹⁻]+))?"
    r"(?:\s?(?P<prefix>[kMGTPEmµn]?)(?=(?:s|B|FLOPs?)\b)|(?P<percent>%))?"
)
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


@dataclass(frozen=True)
class Claim:
    """What the words of a block claim, as expressions over the page's variables.

    They may also use `shown`, the texts of the block's values, and `number`, which reads one.
    """

    page: str
    says: str  # some of the block's words in the source, with … for each value
    holds: tuple[str, ...]

    def is_about(self, page: str, block: Block) -> bool:
        return self.page == page and self.says in typed_text(block)

    def names(self, name: str) -> bool:
        """Return whether the claim mentions the chip or model of this name."""
        quoted = re.compile(rf"(['\"])[^'\"]*\b{re.escape(name)}\b[^'\"]*\1")
        return any(quoted.search(expression) for expression in self.holds)


@dataclass
class Tally:
    """Counts of edits and checked blocks, and the problems that were found."""

    edits: int = 0
    failed_cells: int = 0
    blocks: int = 0
    following: int = 0
    as_printed: int = 0
    problems: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


def check(page: EditedPage, edits: Iterable[Edit], claims: Iterable[Claim]) -> Tally:
    """Make each edit, and check the blocks below it that show a change."""
    tally, found = Tally(), list(claims)
    # Go from the bottom up, so that each edit reruns only its cell and those below.
    for edit in sorted(edits, key=lambda edit: edit.step, reverse=True):
        tally.edits += 1
        for shown in page.after(edit):
            tally.blocks += 1
            changed = shown.state["now"] or shown.reads != page.printed[id(shown.block)].reads
            if not shown.state["follows"]:
                tally.as_printed += 1
            elif changed:
                tally.following += 1
                for problem in problems(page, edit, shown, found):
                    tally.problems.append(f"{page.name}, {edit}: {problem}\n  {shown.text}")
        tally.failed_cells += bool(page.failed)
    return tally


def problems(page: EditedPage, edit: Edit, shown: Shown, claims: Iterable[Claim]) -> Iterator[str]:
    """Yield what is wrong with a block of prose that was updated after an edit."""
    if None in shown.state["now"].values():
        yield "it follows, although a value can't be computed"
        return
    for one in ONE_OF_MANY.finditer(shown.text):
        if one["what"] not in SINGULAR and one[0] not in typed_text(shown.block):
            yield f"it says “{one[0]}”: compute the plural, or let the premise exclude 1"
    about = [claim for claim in claims if claim.is_about(page.name, shown.block)]
    for name in removed_names(edit):
        typed = re.search(rf"\b{re.escape(name)}\b", typed_text(shown.block))
        if typed and not any(claim.names(name) for claim in about):
            yield (
                f"it says {name} and is computed with another: "
                "compute the name, or put it into the premise"
            )
    for claim in about:
        for expression in claim.holds:
            if (wrong := disproved(expression, shown)) is not None:
                yield f"its words claim `{expression}`, {wrong}: make the premise stricter"


def disproved(expression: str, shown: Shown) -> str | None:
    """Return why a claim does not hold; None if it does."""
    local = {"shown": shown.displayed, "number": number}
    try:
        return None if eval(expression, {**shown.names, **local}) else "which is false"
    except Exception as error:
        return f"which fails with {type(error).__name__}: {error}"


def removed_names(edit: Edit) -> Iterator[str]:
    """Yield the short names of chips and models that an edit has removed."""
    full = [*(chip.name for chip in rl.chips()), *(model.name for model in rl.models())]
    left = {short(name) for name in full if f"'{name}'" in edit.new}
    for name in full:
        if name in edit.old and short(name) not in left:
            yield short(name)


def short(name: str) -> str:
    """Return what prose calls a chip or model."""
    if name in {model.name for model in rl.models()}:
        return name
    return name.removeprefix("TPU ").split()[0]


def number(text: str) -> float:
    """Return the first number in a displayed text, in SI units.

    For a percentage, that is a share.
    """
    found = NUMBER.search(text)
    if not found:
        raise ValueError(f"no number in {text!r}")
    value = float(found["digits"].replace(",", ""))
    if found["e"]:
        value *= 10.0 ** int(found["e"])
    if found["power"]:
        value *= 10.0 ** int(found["power"].translate(SUPERSCRIPTS))
    return value / 100 if found["percent"] else value * PREFIXES[found["prefix"] or ""]


def verdicts(block: Block) -> list[str]:
    """Return a block's words whose truth depends on values.

    Names of chips and models are included.
    """
    text = typed_text(block)
    full = [*(chip.name for chip in rl.chips()), *(model.name for model in rl.models())]
    names = {short(name) for name in full}
    found = [word[0] for word in VERDICTS.finditer(text)]
    return [*found, *(name for name in sorted(names) if re.search(rf"\b{re.escape(name)}\b", text))]


def unclaimed(page: EditedPage, claims: Iterable[Claim]) -> Iterator[str]:
    """Yield the claim to add for each block that compares values but has none.

    Only blocks with a {while} role are considered.
    """
    known = list(claims)
    for shown in page.printed.values():
        block = shown.block
        if not block.premise or not (words := verdicts(block)):
            continue
        if any(claim.is_about(page.name, block) for claim in known):
            continue
        said = ", ".join(f"“{word}”" for word in dict.fromkeys(words))
        begin = " ".join(typed_text(block).split()[:8])
        yield (
            f"{page.name} has a premise, {block.premise}, and says {said}. Add to tests/book/"
            "claims.toml what these words claim:\n"
            f'[[claim]]\npage = "{page.name}"\nsays = "{begin}"\nholds = ["…"]'
        )


def false_as_printed(page: EditedPage, claims: Iterable[Claim]) -> Iterator[str]:
    """Yield the claims that don't hold on the unedited page."""
    known = list(claims)
    for shown in page.run(0, {}):
        for claim in known if shown.block.premise else ():
            for expression in claim.holds if claim.is_about(page.name, shown.block) else ():
                if (wrong := disproved(expression, shown)) is not None:
                    yield f"{page.name}, “{claim.says}”: `{expression}`, {wrong}, on the built page"


def unused(pages: Iterable[EditedPage], claims: Iterable[Claim]) -> Iterator[str]:
    """Yield the claims that don't match exactly one block with a {while} role."""
    blocks = [(page.name, shown.block) for page in pages for shown in page.printed.values()]
    for claim in claims:
        about = [block for page, block in blocks if block.premise and claim.is_about(page, block)]
        if len(about) != 1:
            yield f"{claim.page}, “{claim.says}”: {len(about)} blocks with a premise say so"
