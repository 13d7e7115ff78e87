"""The grader's end of the socket: questions to a submitted notebook's functions, and answers."""

import json
import selectors
import socket
from contextlib import ExitStack, suppress
from time import monotonic

from roofkit.check.answers import Answer
from roofkit.check.compare import PROBLEMS
from roofkit.check.packing import literal

SLACK = 5.0  # seconds that a copy may take on top of its calls' own time
ALMOST = 0.95  # of its time, after which the end of a copy was the end of its time
QUIET = 0.5  # seconds after the last word, in which no more copies are expected
VISITORS = 64  # who may connect in all
HELLO_BYTES = 1_000
ANSWER_BYTES = 2_000_000  # a hundred times what a figure takes, the largest answer there is
ENDS = {"too-late", "died", "too-large"}  # problems after which no more is asked


class Questions:
    """A place at which copies of a notebook's process report, and can be asked.

    with Questions() as questions:
        ...  # the notebook runs, and is told questions.address
        answers = questions.ask(part, cases, seconds=5)
    """

    def __init__(self, box):
        self.box = box

    def __enter__(self):
        with ExitStack() as stack:
            self.address = f"{self.box.inside}/ask"
            self.listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            file = self.box.folder / "ask"
            self.listener.bind(str(file))
            file.chmod(0o666)
            self.listener.listen(64)
            self.channels = {}
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *exception):
        for channel in self.channels.values():
            channel.close()  # which ends the copy at the other end
        self.stack.close()

    def collect(self, parts):
        """Take in the copies that have reported. Others may connect too, and say nothing."""
        end, visitors = monotonic() + SLACK, 0
        with selectors.DefaultSelector() as waiting, ExitStack() as strangers:
            waiting.register(self.listener, selectors.EVENT_READ)
            while not parts <= self.channels.keys() and (left := end - monotonic()) > 0:
                ready = waiting.select(min(left, QUIET))
                if not ready:
                    return
                for key, _ in ready:
                    if key.fileobj is self.listener:
                        visitors += 1
                        if visitors == VISITORS:
                            waiting.unregister(self.listener)
                        channel = _Channel(self.listener.accept()[0])
                        strangers.callback(lambda one=channel: self._part_with(one))
                        waiting.register(channel.connection, selectors.EVENT_READ, channel)
                    elif key.data.said():
                        waiting.unregister(key.fileobj)
                        part = key.data.name()
                        if part in parts and part not in self.channels:
                            self.channels[part] = key.data

    def _part_with(self, channel):
        if channel not in self.channels.values():
            channel.close()

    def ask(self, part, cases, seconds):
        """Answers of the learner's function for these cases; None if its check wasn't reached.

        `seconds` is the time for one call.
        """
        channel = self.channels.get(part.key)
        if channel is None:
            return None
        question = {
            "function": part.function,
            "kind": part.kind,
            "cases": [literal(dict(case)) for case in cases],
            "seconds": seconds,
        }
        end = monotonic() + (len(cases) + 1) * seconds + SLACK
        channel.send(question)
        answers = []
        while len(answers) < len(cases):
            answers.append(channel.answer(seconds, end))
            # What ended the copy, and any problem of the first case, which decides the verdict.
            if answers[-1].problem in ENDS or answers[0].problem:
                answers += answers[-1:] * (len(cases) - len(answers))
        return answers


def _answer(answer):
    """What came through the socket is the learner's, so it may be anything."""
    if not isinstance(answer, dict):
        return Answer(problem="died")
    problem = answer.get("problem")
    if problem:
        return Answer(problem=problem if problem in PROBLEMS else "died")
    return Answer(value=answer.get("value"))


class _Channel:
    def __init__(self, connection):
        self.connection = connection
        self.rest = bytearray()

    def close(self):
        self.connection.close()

    def said(self):
        """Take in what has come; whether that is a first line, or will never be one."""
        try:
            block = self.connection.recv(HELLO_BYTES)
        except OSError:
            block = b""
        self.rest += block
        return not block or b"\n" in block or len(self.rest) > HELLO_BYTES

    def name(self):
        """The part that it says it is a copy for, None if it says something else."""
        hello = self._first() if b"\n" in self.rest else None
        part = hello.get("part") if isinstance(hello, dict) else None
        return part if isinstance(part, str) else None

    def send(self, question):
        """Send it; if nobody takes it, nobody will answer."""
        with suppress(OSError):
            self.connection.settimeout(SLACK)
            self.connection.sendall(json.dumps(question).encode() + b"\n")

    def answer(self, seconds, end):
        """The next answer, not beyond `end`. A copy ends itself if a call takes longer than this.

        For the first case it is called twice.
        """
        start = monotonic()
        end = min(end, start + 2 * seconds + SLACK)
        place = 0
        while (place := self.rest.find(b"\n", place)) < 0:
            if len(self.rest) > ANSWER_BYTES:
                return Answer(problem="too-large")
            place = len(self.rest)
            self.connection.settimeout(max(end - monotonic(), 0.001))
            try:
                block = self.connection.recv(1 << 16)
            except OSError:
                block = b""
            if not block:
                in_time = monotonic() - start < seconds * ALMOST
                return Answer(problem="died" if in_time else "too-late")
            self.rest += block
        return _answer(self._first())

    def _first(self):
        """The first line as JSON, None if it is none."""
        line, _, self.rest = self.rest.partition(b"\n")
        try:
            return json.loads(line)
        except (ValueError, RecursionError):  # the latter for lists nested without end
            return None
