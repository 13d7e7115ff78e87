"""Tests of the grader's end of the socket: who may connect, and what answers mean."""

import json
import os
import socket
import sys

import pytest

from grading import sandbox
from grading.execution import questions
from grading.execution.questions import Ended, Questions, _Channel
from grading.execution.time_limits import TimeLimits
from grading.release import exercises
from roofkit.check.answers import Answer

PART = exercises.load("int8-matmul").parts[0]
CASES = PART.cases[:2]
RIGHT = [Answer(1.0), Answer(2.0)]


@pytest.fixture
def asking():
    with sandbox.UnsafeBox() as box, Questions(box) as asking:
        yield asking


def connect(asking, *blocks):
    """Connect as a process of the notebook, and send these blocks of bytes."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.connect(asking.address)
    for block in blocks:
        client.sendall(block)
    return client


def hello(part, padding=0):
    return json.dumps({"part": part}).encode() + b" " * padding + b"\n"


def is_closed(client):
    client.setblocking(False)
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:  # closed with unread bytes
        return True


# --- connections ----------------------------------------------------------------------------------


def test_the_first_connection_gives_the_kernels_process_id(asking, monkeypatch):
    clients = [connect(asking), connect(asking)]
    assert asking.kernel() == os.getpid()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert asking.kernel() is None
    assert all(map(is_closed, clients))


class Referenced(_Channel):
    """A channel that stays referenced, so that garbage collection does not close it."""

    made = ()

    def __init__(self, *words):
        super().__init__(*words)
        Referenced.made = (*Referenced.made, self)


def test_one_connection_for_each_part_is_kept(asking, monkeypatch):
    monkeypatch.setattr(Referenced, "made", ())
    monkeypatch.setattr(questions, "_Channel", Referenced)
    known, again, other = (connect(asking, hello(part)) for part in ("a", "a", "c"))
    padded = connect(asking, hello("b", padding=1_050))
    asking.collect({"a", "b", "not reached"})
    assert asking.channels.keys() == {"a", "b"}
    assert [is_closed(one) for one in (known, padded, again, other)] == [False, False, True, True]
    channel = asking.channels["a"]
    asking.__exit__(None, None, None)
    assert is_closed(known)
    assert channel.connection.fileno() < 0
    with pytest.raises(ConnectionRefusedError):
        connect(asking)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\n",
        b'{"part": "a"}',
        b'{"part": "a"}' + b" " * 2_100,
        b"[" * 900 + b"\n",
        b"a\n",
        b'["part"]\n',
        b'{"part": 1}\n',
        b'{"part": ["a"]}\n',
        b"{}\n",
        b"\xff\n",
    ],
    ids=lambda said: str(said[:16]),
)
@pytest.mark.parametrize("ends", [True, False])
def test_a_malformed_hello_is_dropped(asking, said, ends):
    odd, good = connect(asking, said), connect(asking, hello("a"))
    if ends:
        odd.shutdown(socket.SHUT_WR)
    asking.collect({"a"})
    assert asking.channels.keys() == {"a"}
    asking.collect({"a", "b"})
    assert not is_closed(good)


def test_a_hello_without_an_end_is_not_read_forever(asking):
    client = connect(asking, b" " * 100_000)
    asking.collect({"a"})
    assert asking.channels == {}
    assert is_closed(client)


def test_at_most_64_connections_are_accepted(asking):
    odd = [connect(asking) for _ in range(64)]
    waiting = connect(asking, hello("a"))
    asking.collect({"a"})
    assert asking.channels == {}
    assert all(map(is_closed, odd))
    assert not is_closed(waiting)


# --- answers --------------------------------------------------------------------------------------


def channel(*said, end=float("inf")):
    """Return the grader's end of a connection where these lines have arrived."""
    ours, theirs = socket.socketpair()
    for line in said:
        theirs.sendall(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
    theirs.shutdown(socket.SHUT_WR)
    return _Channel(ours, end)


QUESTION = {"wall_seconds": 100}


@pytest.mark.parametrize(
    ("said", "answers", "late"),
    [
        ([{"value": 1.0}, {"value": 2.0}, {"end": ""}], RIGHT, ""),
        ([{"value": 1.0, "problem": ""}, {"value": 2.0}, {"end": "cpu"}], RIGHT, ""),
        ([{"problem": "raised"}], [Answer(problem="raised")] * 2, ""),
        (
            [{"value": 1.0}, {"value": 1.0, "problem": "nan"}],
            [Answer(1.0), Answer(problem="nan")],
            "",
        ),
        *(
            ([{"value": 1.0}, {"end": end}], [Answer(1.0), Answer(problem="too-late")], end)
            for end in ("cpu", "wall", "starved")
        ),
        ([{"end": "silent"}], [Answer(problem="too-late")] * 2, ""),
        *(
            ([odd], [Answer(problem="died")] * 2, "")
            for odd in (
                *({"end": ""}, {"end": 1}, {"end": "no such end"}, {"problem": "no such problem"}),
                *(
                    {"problem": ["nan"]},
                    [1.0],
                    1.0,
                    None,
                    b"\n",
                    b"{\n",
                    b"",
                    b"[" * 99_999 + b"\n",
                ),
            )
        ),
        ([{}], [Answer(), Answer(problem="died")], ""),
    ],
    ids=lambda value: str(value)[:40],
)
def test_each_line_of_a_process_becomes_an_answer_or_a_problem(said, answers, late):
    assert channel(*said).ask(QUESTION, 2) == (answers, late)


def test_the_answers_to_successive_questions_are_kept_apart():
    one = channel({"value": 1.0}, {"end": ""}, {"value": 2.0}, {"end": ""})
    assert [one.ask(QUESTION, 1)[0] for _ in range(3)] == [
        [Answer(1.0)],
        [Answer(2.0)],
        [Answer(problem="died")],
    ]


def test_the_wait_for_an_answer_is_limited_to_two_calls_and_the_notebooks_time(monkeypatch):
    """An answer may take two calls, for example when the first case is repeated."""
    waits = []
    one = channel()
    monkeypatch.setattr(one, "_answer", lambda seconds: waits.append(seconds) or Answer(1.0))
    one.ask(QUESTION, 2)
    assert all(200 <= seconds < 300 for seconds in waits)
    ours, theirs = socket.socketpair()
    with theirs:
        assert _Channel(ours, 0.0).ask(QUESTION, 1) == ([Answer(problem="too-late")], "")


def test_a_question_is_one_json_line_and_sending_it_cannot_block(monkeypatch):
    ours, theirs = socket.socketpair()
    with theirs:
        one = _Channel(ours, 0.0)
        one.ask(QUESTION, 1)
        assert json.loads(theirs.recv(1_000).removesuffix(b"\n")) == QUESTION
        monkeypatch.setattr(questions, "SLACK_SECONDS", 0.01)
        large = QUESTION | {"cases": ["x" * 10_000_000]}
        assert one.ask(large, 1) == ([Answer(problem="too-late")], "")


def test_an_empty_line_ends_the_wait_for_an_answer(monkeypatch):
    monkeypatch.setattr(questions, "SLACK_SECONDS", 0.01)
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.sendall(b"\n")
        found = _Channel(ours, float("inf")).ask({"wall_seconds": 0.01}, 1)
    assert found == ([Answer(problem="died")], "")


def test_answers_over_the_size_limit_are_refused(monkeypatch):
    monkeypatch.setattr(questions, "MAX_ANSWER_BYTES", 1_000)
    assert channel({"value": "x" * 900}).ask(QUESTION, 1)[0] == [Answer("x" * 900)]
    assert channel(b"x" * 1_001).ask(QUESTION, 1)[0] == [Answer(problem="too-large")]
    assert channel(b"x" * 1_000).ask(QUESTION, 1)[0] == [Answer(problem="died")], "it ended"


# --- questions ------------------------------------------------------------------------------------


class Made:
    """A channel with made-up answers; each takes some seconds of a made-up clock."""

    def __init__(self, monkeypatch, *replies, seconds=10.0):
        self.replies, self.walls, self.now, self.seconds = list(replies), [], 0.0, seconds
        monkeypatch.setattr(questions, "monotonic", lambda: self.now)

    def ask(self, question, count):
        self.question = dict(question)
        self.walls.append(question["wall_seconds"])
        self.now += self.seconds
        answers, late = self.replies.pop(0)
        return list(answers)[:count], late

    def close(self):
        pass


LATE = [Answer(problem="too-late")] * 3
AGAIN = [*RIGHT, Answer(1.0)]
LIMITS = TimeLimits(call=5, call_wall=30, tries=1000)


def ask(made, asking, limits=LIMITS, **more):
    asking.channels[PART.key] = made
    return asking.ask(PART, CASES, limits, **more)


def test_a_question_has_everything_that_the_process_needs(asking, monkeypatch):
    made = Made(monkeypatch, (AGAIN, ""))
    assert ask(made, asking, more=8) == RIGHT
    assert made.question == {
        "function": PART.function,
        "kind": PART.kind,
        "cases": [repr(dict(case)) for case in CASES],
        "more": 8,
        "again": True,
        "spare": True,
        "cpu_seconds": 5,
        "wall_seconds": 30,
    }
    made = Made(monkeypatch, (RIGHT, ""))
    assert ask(made, asking, again=False) == RIGHT
    assert (made.question["again"], made.question["more"]) == (False, 0)
    assert asking.late == set()
    assert asking.told is False
    assert asking.ask(exercises.load("int8-matmul").parts[1], CASES, LIMITS) is None


def test_a_problem_of_the_repeated_case_replaces_all_answers(asking, monkeypatch):
    made = Made(monkeypatch, ([*RIGHT, Answer(problem="changing")], ""))
    assert ask(made, asking) == [Answer(problem="changing")] * 2


@pytest.mark.parametrize(
    ("lates", "walls", "clocks"),
    [
        (["wall", ""], [30, 30], set()),
        (["wall", "wall"], [30, 30], {"wall"}),
        (["cpu"], [30], {"cpu"}),
        (["starved", ""], [30, 60], set()),
        (["starved"] * 5, [30, 60, 120, 240, 480], {"wall"}),
        (["starved", "wall"], [30, 60], {"wall"}),
        (["wall", "starved", ""], [30, 30, 60], set()),
    ],
)
def test_late_calls_are_retried_unless_they_exceed_their_cpu_limit(
    asking, monkeypatch, lates, walls, clocks
):
    made = Made(monkeypatch, *((LATE if late else AGAIN, late) for late in lates))
    found = ask(made, asking)
    assert made.walls == walls
    assert asking.late == clocks
    assert found == ([Answer(problem="too-late")] * 2 if clocks else RIGHT)


@pytest.mark.parametrize(("tries", "calls"), [(19, 2), (20, 3), (29, 3), (30, 4)])
def test_retries_stop_when_the_notebooks_time_for_them_is_over(asking, monkeypatch, tries, calls):
    """Each try takes 10 seconds."""
    made = Made(monkeypatch, *[(LATE, "starved")] * 5)
    ask(made, asking, TimeLimits(tries=tries))
    assert len(made.walls) == calls


def test_retries_of_all_parts_share_one_time_limit(asking, monkeypatch):
    for calls in (2, 1):
        made = Made(monkeypatch, *[(LATE, "wall")] * 2)
        ask(made, asking, TimeLimits(tries=15))
        assert len(made.walls) == calls


@pytest.mark.parametrize(
    ("end", "spare", "ended"),
    [(99, False, True), (10, False, False), (9, False, False), (99, True, False)],
)
def test_a_dead_process_ends_the_run_if_a_second_run_is_possible(monkeypatch, end, spare, ended):
    with sandbox.UnsafeBox() as box, Questions(box, end, spare) as asking:
        made = Made(monkeypatch, ([Answer(1.0), *[Answer(problem="died")] * 2], ""))
        if ended:
            with pytest.raises(Ended):
                ask(made, asking)
        else:
            assert ask(made, asking) == [Answer(problem="died")] * 2
        assert ask(Made(monkeypatch, (AGAIN, "")), asking) == RIGHT
