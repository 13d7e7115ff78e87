"""The grader's end of the socket: questions to a submitted notebook's functions, and answers."""

import json
import math
import selectors
import socket
import struct
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from time import monotonic
from types import TracebackType
from typing import Any, Self

from grading.execution.time_limits import Clock, TimeLimits
from grading.sandbox.box import Box, UnsafeBox
from grading.schema.parts import Part
from roofkit.check.answers import Answer
from roofkit.check.messages import PROBLEMS
from roofkit.check.packing import literal

SLACK = 30.0  # seconds on top of a call's own limit, which the system keeps by itself
VISITORS = 64  # who may connect in all
HELLO_BYTES = 1_000
ANSWER_BYTES = 2_000_000  # a hundred times what a figure takes, the largest answer there is
# Why there are no more answers → the problem that is named; for all else, "died".
ENDS = {
    **{"cpu": "too-late", "wall": "too-late", "starved": "too-late", "silent": "too-late"},
    "large": "too-large",
}
LATE: dict[str, Clock] = {"cpu": "cpu", "wall": "wall", "starved": "wall"}  # end → its clock
TRIES = 2  # for a call that only the wall clock found too late
STARVED_TRIES = 5  # if it got no core meanwhile; each has twice as long as the one before


class Ended(Exception):
    """A copy of the notebook's process ended while it was asked, and nobody can say how."""


class Questions:
    """A place at which copies of a notebook's process report, and can be asked.

    with Questions(box) as questions:
        ...  # the notebook runs, and is told questions.address
        questions.collect(keys)
        answers = questions.ask(part, cases, limits)

    end: the moment, by `time.monotonic`, after which no answer is waited for. spare: whether each
    copy keeps itself as it is, and answers in a fork. Only then is it known how one ended, and is
    a call that is found too late tried again; without, `ask` raises Ended while there is time.
    """

    def __init__(self, box: Box | UnsafeBox, end: float = math.inf, spare: bool = True) -> None:
        self.box, self.end, self.spare = box, end, spare

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self.address = f"{self.box.inside}/ask"
            self.listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            file = self.box.folder / "ask"
            self.listener.bind(str(file))
            file.chmod(0o666)
            self.listener.listen(VISITORS)
            self.channels: dict[str, _Channel] = {}
            self.late_seconds = 0.0
            self.late: set[Clock] = set()
            self.told = False  # whether a hidden case has been asked
            self.stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for channel in self.channels.values():
            channel.close()  # which ends the copy at the other end
        self.stack.close()

    def kernel(self) -> int | None:
        """The number of the process that connected first, None where the system does not tell.

        To be called before the first cell, when only the kernel itself can have connected.
        """
        connection, _ = self.listener.accept()
        with connection:
            if sys.platform != "linux":
                return None
            number: int
            credentials = struct.Struct("3i")
            size = credentials.size
            number, _, _ = credentials.unpack(
                connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
            )
            return number or None

    def collect(self, parts: set[str]) -> None:
        """Take in the copies that have reported; others may have connected too, and say nothing.

        A notebook goes on only when its copy has reported, so there is nothing to wait for.
        """
        visitors: list[_Channel] = []
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.listener, selectors.EVENT_READ)
            while not parts <= self.channels.keys() and (ready := waiting.select(0)):
                for key, _ in ready:
                    if key.fileobj is self.listener:
                        channel = _Channel(self.listener.accept()[0], self.end)
                        visitors.append(channel)
                        if len(visitors) == VISITORS:
                            waiting.unregister(self.listener)
                        waiting.register(channel.connection, selectors.EVENT_READ, channel)
                    elif key.data.has_said_hello():
                        waiting.unregister(key.fileobj)
                        part = key.data.part()
                        if part in parts and part not in self.channels:
                            self.channels[part] = key.data
        for channel in visitors:
            if channel not in self.channels.values():
                channel.close()

    def ask(
        self,
        part: Part,
        cases: Sequence[Mapping[str, Any]],
        limits: TimeLimits,
        more: int = 0,
        again: bool = True,
    ) -> list[Answer] | None:
        """Answers of the learner's function for these cases; None if its check wasn't reached.

        To be asked again for other cases of the part as long as no answer is a problem.
        more: for how many cases that will be, 0 if it will not be asked again.

        If `again`, the first case is asked once more at the end. What goes wrong there stands for
        all answers: "changing" or "changed-inputs" for another value than before.
        """
        channel = self.channels.get(part.key)
        if channel is None:
            return None
        question: dict[str, Any] = {
            "function": part.function,
            "kind": part.kind,
            "cases": [literal(dict(case)) for case in cases],
            "more": more,
            "again": again,
            "spare": self.spare,
            "cpu_seconds": limits.call,
            "wall_seconds": limits.call_wall,
        }
        for attempt in range(STARVED_TRIES):
            start = monotonic()
            answers, late = channel.ask(question, len(cases) + again)
            died = any(answer.problem == "died" for answer in answers)
            if died and not self.spare and monotonic() < self.end:
                raise Ended
            if not late or late == "cpu":
                break
            self.late_seconds += monotonic() - start
            if self.late_seconds > limits.tries or (late == "wall" and attempt + 1 >= TRIES):
                break
            if late == "starved":
                question["wall_seconds"] *= 2
        if late:
            self.late.add(LATE[late])
        if again and (problem := answers.pop().problem):
            return [Answer(problem=problem)] * len(answers)
        return answers


class _Channel:
    """The connection to one copy."""

    def __init__(self, connection: socket.socket, end: float) -> None:
        self.connection, self.end = connection, end
        self.rest = bytearray()

    def close(self) -> None:
        self.connection.close()

    def has_said_hello(self) -> bool:
        """Take in what has come; whether that is a first line, or will never be one."""
        try:
            block = self.connection.recv(HELLO_BYTES)
        except OSError:
            block = b""
        self.rest += block
        return not block or b"\n" in block or len(self.rest) > HELLO_BYTES

    def part(self) -> str | None:
        """The part that it says it is a copy for, None if it says something else."""
        hello = self._first_line() if b"\n" in self.rest else None
        part = hello.get("part") if isinstance(hello, dict) else None
        return part if isinstance(part, str) else None

    def ask(self, question: Mapping[str, Any], count: int) -> tuple[list[Answer], str]:
        """`count` answers, and by which end a call was found too late, "" if none was.

        An end of the copy, and a problem of the first case, which decides the verdict, stand for
        all answers that are missing.
        """
        with suppress(OSError):  # if nobody takes it, nobody will answer
            self.connection.settimeout(SLACK)
            self.connection.sendall(json.dumps(question).encode() + b"\n")
        # When the first case is asked again, the function may be called twice.
        longest = 2 * question["wall_seconds"] + SLACK
        answers: list[Answer] = []
        while len(answers) < count:
            said = self._answer(longest)
            if isinstance(said, str):
                rest = Answer(problem=ENDS.get(said, "died"))
                return answers + [rest] * (count - len(answers)), said if said in LATE else ""
            answers.append(said)
            if answers[0].problem:
                return answers * count, ""
        self._answer(longest)  # its end, so that another question finds nothing before its answer
        return answers, ""

    def _answer(self, seconds: float) -> Answer | str:
        """The next answer; as text, why there are no more."""
        end = min(monotonic() + seconds, self.end)
        place = 0
        while (place := self.rest.find(b"\n", place)) < 0:
            if len(self.rest) > ANSWER_BYTES:
                return "large"
            place = len(self.rest)
            self.connection.settimeout(max(end - monotonic(), 0.001))
            try:
                block = self.connection.recv(1 << 16)
            except TimeoutError:  # it has set all limits back, and waits
                return "silent"
            except OSError:
                block = b""
            if not block:
                return "died"
            self.rest += block
        return _understood(self._first_line())

    def _first_line(self) -> Any:
        """The first line as JSON, None if it is none."""
        line, _, self.rest = self.rest.partition(b"\n")
        try:
            return json.loads(line)
        except (ValueError, RecursionError):  # the latter for lists nested without end
            return None


def _understood(said: Any) -> Answer | str:
    """What came through the socket is the learner's, so it may be anything."""
    if not isinstance(said, dict):
        return "died"
    if "end" in said:
        return str(said["end"])
    problem = said.get("problem")
    if problem:
        known = isinstance(problem, str) and problem in PROBLEMS
        return Answer(problem=problem) if known else "died"
    return Answer(value=said.get("value"))
