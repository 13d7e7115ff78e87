"""The grader's end of the socket: questions to a submitted notebook's functions, and answers."""

import json
import selectors
import socket
import tempfile
from contextlib import ExitStack
from pathlib import Path

from rooflib.check.compare import WORDS
from rooflib.check.data import literal
from rooflib.check.values import Answer

SLACK = 5.0  # seconds that a copy may take on top of its calls' own time
LINE_BYTES = 100_000_000


class Questions:
    """A place at which copies of a notebook's process report, and can be asked.

    with Questions() as questions:
        ...  # the notebook runs, and is told questions.address
        answers = questions.ask(part, cases, seconds=5)
    """

    def __enter__(self):
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="ask-"))
            self.address = str(Path(folder) / "socket")
            self.listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            self.listener.bind(self.address)
            self.listener.listen(64)
            self.channels = {}
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *exception):
        for channel in self.channels.values():
            channel.close()  # which ends the copy at the other end
        self.stack.close()

    def collect(self, parts):
        """Take in the copies that have reported."""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.listener, selectors.EVENT_READ)
            while not parts <= self.channels.keys() and waiting.select(timeout=0.5):
                channel = _Channel(self.listener.accept()[0])
                hello = channel.line(SLACK)
                part = hello.get("part") if isinstance(hello, dict) else None
                if part in parts and part not in self.channels:
                    self.channels[part] = channel
                else:
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
        answers = channel.ask(question, len(cases) * (2 * seconds + SLACK))
        if not isinstance(answers, list) or len(answers) != len(cases):
            return [Answer(problem="died")] * len(cases)
        return [_answer(answer) for answer in answers]


def _answer(answer):
    """What came through the socket is the learner's, so it may be anything."""
    if not isinstance(answer, dict):
        return Answer(problem="died")
    problem = answer.get("problem")
    if problem:
        return Answer(problem=problem if problem in WORDS else "died")
    return Answer(value=answer.get("value"))


class _Channel:
    def __init__(self, connection):
        self.connection = connection
        self.rest = b""

    def close(self):
        self.connection.close()

    def ask(self, question, seconds):
        """The answer to a question as JSON, None if none comes in this time."""
        try:
            self.connection.settimeout(SLACK)
            self.connection.sendall(json.dumps(question).encode() + b"\n")
        except OSError:
            return None
        return self.line(seconds)

    def line(self, seconds):
        """The next line as JSON, None if none comes."""
        self.connection.settimeout(seconds)
        try:
            while b"\n" not in self.rest and len(self.rest) < LINE_BYTES:
                block = self.connection.recv(65536)
                if not block:
                    return None
                self.rest += block
            line, _, self.rest = self.rest.partition(b"\n")
            return json.loads(line)
        except (OSError, ValueError, RecursionError):  # the last for lists nested without end
            return None
