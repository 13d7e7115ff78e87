"""The grader's end of the socket over which a notebook's functions are called."""

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
from roofkit.check.answers import Answer, Plain
from roofkit.check.messages import PROBLEMS
from roofkit.check.packing import literal

SLACK_SECONDS = 30.0  # extra wait for an answer: timers in the forked copy enforce the call's limit
MAX_CONNECTIONS = 64
MAX_HELLO_BYTES = 1_000
MAX_ANSWER_BYTES = 2_000_000  # 100 times the size of a plot, the largest legitimate answer
# Why the answers ended → the problem to report. Any other reason is reported as "died".
ENDS = {
    **{"cpu": "too-late", "wall": "too-late", "starved": "too-late", "silent": "too-late"},
    "large": "too-large",
}
# Why the answers ended → the clock whose limit was exceeded.
OUT_OF_MEMORY = "out-of-memory"
LATE: dict[str, Clock] = {"cpu": "cpu", "wall": "wall", "starved": "wall"}
MAX_TRIES = 2  # attempts at a call that exceeded only its wall-clock limit
MAX_STARVED_TRIES = 5  # attempts at a call that got no core; each doubles the wall-clock limit


class Ended(Exception):
    """A copy of the notebook's process ended during a call, for an unknown reason."""


class Questions:
    """A socket where copies of a notebook's process connect to answer questions.

    with Questions(box) as questions:
        ...  # run the notebook, which gets questions.address
        questions.collect(keys)
        answers = questions.ask(part, cases, limits)

    end: deadline, on `time.monotonic`, for all answers. spare: whether each copy answers in a fork.
    With forks it is known how a call ended, and a call that exceeded its wall-clock limit is
    retried. Without, `ask` raises Ended if a copy dies before the deadline.
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
            self.listener.listen(MAX_CONNECTIONS)
            self.channels: dict[str, _Channel] = {}
            self.late_seconds = 0.0
            self.late: set[Clock] = set()
            self.told = False  # whether a hidden case has been sent
            self.calls: dict[str, Plain] = {}  # part → the functions that its function calls
            self.stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for channel in self.channels.values():
            channel.close()  # EOF makes the forked copy of the notebook's process exit
        self.stack.close()

    def kernel(self) -> int | None:
        """Return the process id of the first connection's peer, None if it is unknown.

        Call this before the first cell, when only the kernel itself can have connected.
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
        """Accept copies of the process that have reported; drop all other connections.

        A notebook continues only after its copy has reported, so this never waits.
        """
        connected: list[_Channel] = []
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.listener, selectors.EVENT_READ)
            while ready := waiting.select(timeout=0):
                for key, _ in ready:
                    if key.fileobj is self.listener:
                        channel = _Channel(self.listener.accept()[0], self.end)
                        connected.append(channel)
                        if len(connected) == MAX_CONNECTIONS:
                            waiting.unregister(self.listener)
                        waiting.register(channel.connection, selectors.EVENT_READ, channel)
                    elif key.data.has_said_hello():
                        waiting.unregister(key.fileobj)
                        part = key.data.part()
                        if part in parts and part not in self.channels:
                            self.channels[part] = key.data
        for channel in connected:
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
        """Return the answers of the learner's function, None if its check wasn't reached.

        Call this again for more cases of the part only if no answer was a problem.
        more: the number of cases in that second call, 0 if there will be none.

        If `again`, the first case is repeated at the end, and a problem there replaces all answers:
        "changing" or "changed-inputs" if the value differs from the first.
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
        killed = self.box.killed_for_memory()
        for attempt in range(MAX_STARVED_TRIES):
            start = monotonic()
            answers, late = channel.ask(question, len(cases) + again)
            died = any(answer.problem == "died" for answer in answers)
            if died and (self.box.killed_for_memory() > killed or self.box.stopped == "memory"):
                answers = [
                    Answer(problem=OUT_OF_MEMORY) if answer.problem == "died" else answer
                    for answer in answers
                ]
            elif died and not self.spare and monotonic() < self.end:
                raise Ended
            if not late or late == "cpu":
                break
            self.late_seconds += monotonic() - start
            if self.late_seconds > limits.tries or (late == "wall" and attempt + 1 >= MAX_TRIES):
                break
            if late == "starved":
                question["wall_seconds"] *= 2
        if late:
            self.late.add(LATE[late])
        if again:
            last = answers.pop()
            if last.problem:
                return [Answer(problem=last.problem)] * len(answers)
            self.calls[part.key] = last.value
        return answers


class _Channel:
    """The connection to one copy of the notebook's process."""

    def __init__(self, connection: socket.socket, end: float) -> None:
        self.connection, self.end = connection, end
        self.rest = bytearray()

    def close(self) -> None:
        self.connection.close()

    def has_said_hello(self) -> bool:
        """Read what has arrived; return whether the wait for the first line is over.

        The first line is then complete, or never will be.
        """
        try:
            block = self.connection.recv(MAX_HELLO_BYTES)
        except OSError:
            block = b""
        self.rest += block
        return not block or b"\n" in block or len(self.rest) > MAX_HELLO_BYTES

    def part(self) -> str | None:
        """Return the part named in the first line, None if the line is malformed."""
        hello = self._first_line() if b"\n" in self.rest else None
        part = hello.get("part") if isinstance(hello, dict) else None
        return part if isinstance(part, str) else None

    def ask(self, question: Mapping[str, Any], count: int) -> tuple[list[Answer], str]:
        """Return `count` answers, and which limit ended a call: a key of LATE, or "".

        If the copy ends, that problem fills in for all missing answers. If the first case has a
        problem, which decides the verdict, that problem is every answer.
        """
        with suppress(OSError):  # if sending fails, reading the answer reports the dead copy
            self.connection.settimeout(SLACK_SECONDS)
            self.connection.sendall(json.dumps(question).encode() + b"\n")
        # Allow for two calls per answer, as when the first case is repeated.
        longest = 2 * question["wall_seconds"] + SLACK_SECONDS
        answers: list[Answer] = []
        while len(answers) < count:
            said = self._answer(longest)
            if isinstance(said, str):
                rest = Answer(problem=ENDS.get(said, "died"))
                return answers + [rest] * (count - len(answers)), said if said in LATE else ""
            answers.append(said)
            if answers[0].problem:
                return answers * count, ""
        self._answer(longest)  # read the end marker, so that it does not precede the next answer
        return answers, ""

    def _answer(self, seconds: float) -> Answer | str:
        """Return the next answer, or a string that says why no more will come."""
        end = min(monotonic() + seconds, self.end)
        place = 0
        while (place := self.rest.find(b"\n", place)) < 0:
            if len(self.rest) > MAX_ANSWER_BYTES:
                return "large"
            place = len(self.rest)
            self.connection.settimeout(max(end - monotonic(), 0.001))
            try:
                block = self.connection.recv(1 << 16)
            except TimeoutError:  # the learner's code removed its own limits and still runs
                return "silent"
            except OSError:
                block = b""
            if not block:
                return "died"
            self.rest += block
        return _parsed(self._first_line())

    def _first_line(self) -> Any:
        """Remove the first line and return it parsed as JSON, None if it isn't JSON."""
        line, _, self.rest = self.rest.partition(b"\n")
        try:
            return json.loads(line)
        except (ValueError, RecursionError):  # RecursionError for very deeply nested lists
            return None


def _parsed(said: Any) -> Answer | str:
    """Return the answer in a parsed line, or a string that says why no more will come.

    The learner's process may have sent anything.
    """
    if not isinstance(said, dict):
        return "died"
    if "end" in said:
        return str(said["end"])
    problem = said.get("problem")
    if problem:
        known = isinstance(problem, str) and problem in PROBLEMS
        return Answer(problem=problem) if known else "died"
    return Answer(value=said.get("value"))
