"""Fuzz targets: readers of parts of a submission, with functions to draw inputs.

Readers must not raise errors. They return the outcome in words, which may be that they refuse.
"""

import csv
import functools
import html.parser
import json
import socket
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from unicodedata import category

import drawn_folders
import nbformat
import packets
import plots
import sheets
import values
from classroom import functions
from draws import text
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from submissions import Submission, hand_in

from grading.execution.outputs import Outputs
from grading.execution.questions import ENDS, _Channel, _parsed
from grading.intake.names import FORBIDDEN_CATEGORIES, name_problem, printable
from grading.intake.repair import repair
from grading.intake.submissions import digest, misplaced, refused_students, submissions
from grading.judging.validation import validated
from grading.judging.verdicts import Asked, _continues, _graded, cases
from grading.platforms import downloads, grades
from grading.platforms.roster import Table
from grading.records.gradebook_writer import parse_timestamp
from grading.release import exercises
from grading.reports import feedback, similarity
from grading.reports.feedback_page import page
from grading.sandbox.cell_channel import Channel, Ended
from grading.work import read
from roofkit.check.answers import Answer
from roofkit.check.compare import judge as said_to_learner

SEED = "fuzz"


@functools.cache
def parts():
    """Return (exercise, part) for all parts of all exercises."""
    return [(name, part) for name in exercises.names() for part in exercises.load(name).parts]


def parts_of(is_figure):
    return [one for one in parts() if (one[1].kind == "figure") == is_figure]


@functools.cache
def learners_figures(name, key):
    """Return what learners' figures show, for each case of a part."""
    return plots.known(sum((some.inputs for some in cases(name, key, SEED)), ()))


def draw_answers(random):
    """Generate lines with answers for a part that returns values, not a figure."""
    name, part = random.choice(parts_of(False))
    published, hidden = cases(name, part.key, SEED)
    return name, part.key, values.lines(random, published + hidden), random.random() < 0.3


def draw_figures(random):
    """Generate what is read from a part's figures, one figure for each case."""
    name, part = random.choice(parts_of(True))
    inputs = sum((some.inputs for some in cases(name, part.key, SEED)), ())
    near = random.random() < 0.7
    state = random.getrandbits(64)
    lines = []
    for seen, case in zip(learners_figures(name, part.key), inputs, strict=True):
        # For most cases, change the same learner's figure in the same way.
        source = Random(state) if random.random() < 0.8 else random
        drawn = plots.nearly_right(source, seen, case) if near else plots.odd(source)
        lines.append({"value": drawn})
    return name, part.key, lines, random.random() < 0.3


def judge(drawn):
    """Return the grader's verdict on these answers.

    Some draws run the learner's check too.
    """
    name, key, lines, checks = drawn
    part = next(one for _, one in parts() if one.key == key)
    known = cases(name, part.key, SEED)
    answers = [_parsed(json.loads(json.dumps(line))) for line in lines]
    answers = [
        Answer(problem=ENDS.get(one, "died")) if isinstance(one, str) else one for one in answers
    ]
    first = answers[: len(known[0].inputs)]
    second = answers[len(first) :] if _continues(first) else None
    graded = _graded(part, Asked(first, second), known, "")
    json.dumps(graded)
    try:
        fitting = [validated(one, part.kind) for one in first]
    except ValueError:
        return graded["cause"]
    if checks:
        some = known[0]
        about = (some.expected, some.misconceptions, part.tolerance, some.inputs)
        said_to_learner(fitting, *about, private=True)
    return graded["cause"] or ("right" if graded["points"] else "wrong")


@functools.cache
def right(name):
    source = exercises.source(name)
    nb = hand_in(Submission(name, "reference", "", {}), source, source, functions(name))
    return json.loads(nbformat.writes(nb))


def draw_notebook(random):
    """Generate the name of an exercise, and the bytes of a notebook file for it."""
    name = random.choice(exercises.names())
    return name, sheets.notebook(random, right(name), [*functions(name).values()])


def repair_notebook(drawn):
    """Read, repair, validate and compare a notebook file."""
    name, content = drawn
    nb, reason = read(content)
    if nb is None:
        return reason
    repair(nb, name)
    nbformat.validate(nb)
    similarity.code(nb)
    feedback.clean(nb)
    nbformat.validate(nb)
    return "repaired"


def draw_messages(random):
    """Generate messages of the notebook's process, and texts for notebook and page."""
    sent = b"".join(packets.sent(random) for _ in range(random.randrange(1, 5)))
    return sent, text(random), text(random), text(random), random.random() < 0.1


def show_messages(drawn):
    """Filter messages, collect them as outputs, clean these and render a page."""
    sent, source, prose, said, renders = drawn
    ours, theirs = socket.socketpair()
    theirs.close()
    with ours:
        channel = Channel(ours, lambda: True)
        channel.number = packets.ASKED
        channel.rest += sent  # as if received
        cell = new_code_cell(source)
        nb = new_notebook(cells=[cell, new_markdown_cell(prose)])
        outputs = Outputs()
        outputs.begin(cell.outputs)
        outcome = "no message"
        with suppress(Ended):
            while (message := channel.receive(60)) is not None:
                outcome = "a message"
                outputs.take(*message)
    outcome = "an output" if cell.outputs else outcome
    feedback.clean(nb)
    nbformat.writes(nb)
    if renders:
        page(nb, "int8-matmul", said, [], {})
    return outcome


class Line:
    """A connection that delivers these bytes in blocks of random sizes."""

    def __init__(self, content, seed):
        self.random, self.content = Random(seed), content

    def settimeout(self, _): ...

    def sendall(self, _): ...

    def recv(self, most):
        cut = self.random.randrange(1, most + 1)
        block, self.content = self.content[:cut], self.content[cut:]
        return block


def draw_lines(random):
    """Generate the bytes sent by what claims to be a fork of the notebook's process."""
    name, part = random.choice(parts())
    lines = [packets.line(random, [part.key]) for _ in range(random.randrange(9))]
    return name, part.key, b"".join(lines), random.getrandbits(32)


def ask(drawn):
    """Request answers from a fake process that sends these bytes, and grade them."""
    name, wanted, content, seed = drawn
    part = next(one for _, one in parts() if one.key == wanted)
    channel = _Channel(Line(content, seed), time.monotonic() + 60)
    while not channel.has_said_hello():
        pass
    key = channel.part()
    answers, late = channel.ask({"wall_seconds": 1}, 3)
    known = cases(name, part.key, SEED)
    asked = Asked([answers[0]] * len(known[0].inputs), [answers[-1]] * len(known[1].inputs))
    _graded(part, asked, known, "")
    return late or answers[-1].problem or ("a stranger" if key is None else "answers")


class Tags(html.parser.HTMLParser):
    """A parser that asserts that part of a page has only allowed tags and attributes."""

    def handle_starttag(self, tag, attributes):
        assert tag in feedback.TAGS | {"div", "span"}, tag
        for name, value in attributes:
            own = {"img": {"src", "alt"}, "ol": {"start"}}.get(tag, {"class"})
            assert name in own, (tag, name)
            assert name != "src" or feedback._allowed(tag, name, value), value


def draw_text(random):
    """Generate random Markdown, code or plain text."""
    wanted = text(random)
    if random.random() < 0.7:
        wanted = "".join(random.choice(MARKS) for _ in range(random.choice((9, 90, 900)))) + wanted
    return wanted[: random.choice((200, 4_000, 200_000))]


def render(drawn):
    """Render a text as parts of a page."""
    wanted = feedback._text(drawn)
    for make in (feedback._markdown.__wrapped__, feedback._highlighted.__wrapped__):
        made = make(wanted)
        if len(made) < 20_000:
            Tags().feed(made)
    return "shown as it is" if len(wanted) > feedback.MAX_MARKUP_CHARACTERS else "formatted"


MARKS = (
    *(
        "*",
        "**",
        "_",
        "`",
        "```\n",
        "~~",
        "[",
        "](",
        ")",
        "![",
        "]",
        ": ",
        "\n",
        "\n\n",
        "    ",
        "- ",
    ),
    *(
        "1. ",
        "> ",
        "#",
        "|",
        "|-|-|\n",
        "<",
        ">",
        "<b onclick=x>",
        "<script>",
        "&lt;",
        "&#60;",
        "\\",
    ),
    *(
        "$",
        "$$",
        "\\begin{a}",
        "\\end{a}",
        "\\(",
        "\\[",
        "javascript:",
        "http://a.b",
        "data:text/html",
    ),
    *(
        "attachment:a",
        '"',
        "'",
        "a",
        "b",
        " ",
        "<!--",
        "-->",
        "\t",
        "]: <",
        "[^1]",
        "<https://a>",
        "\r",
    ),
)


def draw_names(random):
    """Generate a person's name, a file's name in an archive, and a timestamp."""
    stamp = drawn_folders.stamp(random).encode("utf-8", "replace")[:1_000]
    return drawn_folders.name(random), drawn_folders.member(random), stamp


def read_names(drawn):
    """Read names of students and files, and times."""
    name, member, stamp = drawn
    assert printable(name).isprintable() or not name
    name_problem(name)
    downloads.hand_in(member)
    parse_timestamp(stamp)
    return "names"


def read_archive(content):
    """Read a platform's archive."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "all.zip")
        place.write_bytes(content)
        try:
            return f"{len(list(downloads.read(place)))} files"
        except downloads.Unreadable:
            return "refused"


def read_table(written):
    """Read a platform's table of people, and fill in grades."""
    try:
        people, _ = Table(written).people()
        points = {(one.id, "int8-matmul"): "1" for one in people}
        grades.fill(written, points, grades.columns(written, exercises.names(), {}))
    except (ValueError, csv.Error):
        return "no table"
    return "a table"


def read_course(seed):
    """Read a course folder with generated students, exercises and stray files."""
    with tempfile.TemporaryDirectory() as folder:
        drawn_folders.course(Random(seed), base := Path(folder), exercises.names())
        lines = misplaced(base)
        refused_students(base)
        for line in lines:
            assert not any(category(letter) in FORBIDDEN_CATEGORIES - {"Cf"} for letter in line), (
                line
            )
        for one in submissions(base):
            content, stamp, reason = one.read()
            digest(content, stamp, reason)
            if content:
                read(content)
            for remark in (one.reason, *one.remarks, *one.tampering):
                assert remark.isprintable() or not remark, remark
    return f"{len(lines)} astray"


# Name → (function that generates a random input, function under test that reads it).
TARGETS = {
    "answers": (draw_answers, judge),
    "figures": (draw_figures, judge),
    "notebook": (draw_notebook, repair_notebook),
    "messages": (draw_messages, show_messages),
    "questions": (draw_lines, ask),
    "text": (draw_text, render),
    "names": (draw_names, read_names),
    "archive": (drawn_folders.archive, read_archive),
    "table": (drawn_folders.table, read_table),
    "course folder": (lambda random: random.getrandbits(64), read_course),
}
