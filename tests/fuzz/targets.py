"""What reads something of a submission's: each takes a random source, and may raise nothing.

A refusal is a plain outcome, and is returned as a word.
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
from grading.execution.questions import ENDS, _Channel, _understood
from grading.intake.names import REFUSED, shown, unfit
from grading.intake.repair import repair
from grading.intake.submissions import digest, refused_students, strangers, submissions
from grading.judging.fit import fit
from grading.judging.verdicts import Asked, _goes_on, _graded, cases
from grading.platforms import downloads, grades
from grading.platforms.roster import Table
from grading.records.gradebook_writer import time_of
from grading.release import exercises
from grading.reports import alike, feedback
from grading.reports.feedback_page import page
from grading.sandbox.cell_channel import Channel, Ended
from grading.work import read
from roofkit.check.answers import Answer
from roofkit.check.compare import judge as said_to_learner

SEED = "fuzz"
PARTS = [(name, part) for name in exercises.names() for part in exercises.load(name).parts]
FIGURES = [one for one in PARTS if one[1].kind == "figure"]
VALUES = [one for one in PARTS if one[1].kind != "figure"]
SHOWN = {
    part.key: plots.known(sum((some.inputs for some in cases(name, part.key, SEED)), ()))
    for name, part in FIGURES
}


def judged(random, name, part, lines):
    """The verdict on these lines of a part, as the grader has it; a learner's check says it too."""
    known = cases(name, part.key, SEED)
    answers = [_understood(json.loads(json.dumps(line))) for line in lines]
    answers = [
        Answer(problem=ENDS.get(one, "died")) if isinstance(one, str) else one for one in answers
    ]
    first = answers[: len(known[0].inputs)]
    second = answers[len(first) :] if _goes_on(first) else None
    graded = _graded(part, Asked(first, second), known, "")
    json.dumps(graded)
    try:
        fitting = [fit(one, part.kind) for one in first]
    except ValueError:
        return graded["cause"]
    if random.random() < 0.3:
        some = known[0]
        about = (some.expected, some.misconceptions, part.tolerance, some.inputs)
        said_to_learner(fitting, *about, private=True)
    return graded["cause"] or ("right" if graded["points"] else "wrong")


def judge(random):
    """Answers of numbers, names and lists, against the reference's."""
    name, part = random.choice(VALUES)
    published, hidden = cases(name, part.key, SEED)
    return judged(random, name, part, values.lines(random, published + hidden))


def figure_reader(random):
    """What stands in a figure: labels, ticks, names, curves."""
    name, part = random.choice(FIGURES)
    inputs = sum((some.inputs for some in cases(name, part.key, SEED)), ())
    near = random.random() < 0.7
    # The same learner's figure for each case, changed alike.
    state = random.getrandbits(64)
    lines = []
    for seen, case in zip(SHOWN[part.key], inputs, strict=True):
        if random.random() < 0.8:
            random.seed(state)
        drawn = plots.nearly_right(random, seen, case) if near else plots.odd(random)
        lines.append({"value": drawn})
    return judged(random, name, part, lines)


@functools.cache
def right(name):
    source = exercises.source(name)
    nb = hand_in(Submission(name, "reference", "", {}), source, source, functions(name))
    return json.loads(nbformat.writes(nb))


def reading_and_repair(random):
    """The file of a notebook: read, repaired, made valid, compared."""
    name = random.choice(exercises.names())
    nb, reason = read(sheets.notebook(random, right(name), [*functions(name).values()]))
    if nb is None:
        return reason
    repair(nb, name)
    nbformat.validate(nb)
    alike.code(nb)
    feedback.clean(nb)
    nbformat.validate(nb)
    return "repaired"


def messages(random):
    """What a process says of its cells: filtered, taken in as outputs, cleaned, put on a page."""
    ours, theirs = socket.socketpair()
    theirs.close()
    with ours:
        channel = Channel(ours, lambda: True)
        channel.number = packets.ASKED
        for _ in range(random.randrange(1, 5)):
            channel.rest += packets.sent(random)  # as if it had come
        cell = new_code_cell(text(random))
        nb = new_notebook(cells=[cell, new_markdown_cell(text(random))])
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
    if random.random() < 0.1:
        page(nb, "int8-matmul", text(random), [], {})
    return outcome


class Line:
    """A connection over which these bytes come, in blocks."""

    def __init__(self, random, content):
        self.random, self.content = random, content

    def settimeout(self, _): ...

    def sendall(self, _): ...

    def recv(self, most):
        cut = self.random.randrange(1, most + 1)
        block, self.content = self.content[:cut], self.content[cut:]
        return block


def questions(random):
    """Lines of who says to be a copy of the kernel's process."""
    name, part = random.choice(PARTS)
    lines = [packets.line(random, [part.key]) for _ in range(random.randrange(9))]
    channel = _Channel(Line(random, b"".join(lines)), time.monotonic() + 60)
    while not channel.has_said_hello():
        pass
    key = channel.part()
    answers, late = channel.ask({"wall_seconds": 1}, 3)
    known = cases(name, part.key, SEED)
    asked = Asked([answers[0]] * len(known[0].inputs), [answers[-1]] * len(known[1].inputs))
    _graded(part, asked, known, "")
    return late or answers[-1].problem or ("a stranger" if key is None else "answers")


class Tags(html.parser.HTMLParser):
    """Holds that nothing stands in a piece of a page but what may."""

    def handle_starttag(self, tag, attributes):
        assert tag in feedback.TAGS | {"div", "span"}, tag
        for name, value in attributes:
            own = {"img": {"src", "alt"}, "ol": {"start"}}.get(tag, {"class"})
            assert name in own, (tag, name)
            assert name != "src" or feedback._allowed(tag, name, value), value


def pages(random):
    """Markdown, code and plain text, as parts of a page."""
    wanted = text(random)
    if random.random() < 0.7:
        wanted = "".join(random.choice(MARKS) for _ in range(random.choice((9, 90, 900)))) + wanted
    wanted = feedback._text(wanted[: random.choice((200, 4_000, 200_000))])
    for make in (feedback._markdown.__wrapped__, feedback._highlighted.__wrapped__):
        made = make(wanted)
        if len(made) < 20_000:
            Tags().feed(made)
    return "shown as it is" if len(wanted) > feedback.MARKUP else "formatted"


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


def intake(random):
    """Names of students and files, times, and the tables and archives of platforms."""
    name = drawn_folders.name(random)
    assert shown(name).isprintable() or not name
    unfit(name)
    downloads.hand_in(drawn_folders.member(random))
    time_of(drawn_folders.stamp(random).encode("utf-8", "replace")[:1_000])
    if random.random() < 0.2:
        with tempfile.TemporaryDirectory() as folder:
            drawn_folders.archive(random, place := Path(folder, "all.zip"))
            try:
                return f"{len(list(downloads.read(place)))} of an archive"
            except downloads.Unreadable:
                return "no archive"
    written = drawn_folders.table(random)
    try:
        people, _ = Table(written).people()
        points = {(one.id, "int8-matmul"): "1" for one in people}
        grades.fill(written, points, grades.columns(written, exercises.names(), {}))
    except (ValueError, csv.Error):
        return "no table"
    return "a table"


def course_folder(random):
    """Folders of students, and what lies in them."""
    with tempfile.TemporaryDirectory() as folder:
        drawn_folders.course(random, base := Path(folder), exercises.names())
        lines = strangers(base)
        refused_students(base)
        for line in lines:
            assert not any(category(letter) in REFUSED - {"Cf"} for letter in line), line
        for one in submissions(base):
            content, stamp, reason = one.read()
            digest(content, stamp, reason)
            if content:
                read(content)
            for remark in (one.reason, *one.remarks, *one.tampering):
                assert remark.isprintable() or not remark, remark
    return f"{len(lines)} astray"


TARGETS = {
    one.__name__.replace("_", " "): one
    for one in (
        *(judge, figure_reader, reading_and_repair, messages, questions, pages, intake),
        course_folder,
    )
}
