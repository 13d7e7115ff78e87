"""Fake grading that runs no notebook.

It has an in-process backend, and made-up jobs and outcomes.
"""

from concurrent.futures import Future
from typing import Any

from classroom import points
from grading.execution.time_limits import TIME_LIMITS
from grading.release import exercises
from grading.work import Job, Outcome

NOTEBOOK = '{"cells": []}'


class InProcessBackend:
    """A backend that runs jobs in this process.

    EOFError simulates the death of a worker.
    """

    broken: type[BaseException] = EOFError
    window = 1

    def limit(self, seconds: float) -> None:
        pass

    def executor(self) -> "InProcessBackend":
        return self

    def __enter__(self) -> "InProcessBackend":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, function: Any, job: Any, /) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(job))
        except Exception as error:
            future.set_exception(error)
        return future


def outcome(
    name: str,
    wrong: set[str] | frozenset[str] = frozenset(),
    cause: str = "",
    page: str = "page",
    comments: dict[str, str] | None = None,
    reason: str = "",
) -> Outcome:
    """Return the outcome of a notebook in which these parts are wrong."""
    parts = [
        {
            "key": key,
            "points": 0 if key in wrong else worth,
            "of": worth,
            "cause": cause if key in wrong else "",
            "sentences": [],
        }
        for key, worth in points(name).items()
    ]
    rest: dict[str, Any] = {"late": False, "code": "", "missing": [], "told": False}
    return Outcome(NOTEBOOK, page, comments or {}, parts, reason, [], [], 1.0, **rest)


def job(name: str, content: bytes, released: str) -> Job:
    """Return a job for a notebook that has not been graded before."""
    return Job(
        student="ada",
        exercise=name,
        content=content,
        released=released,
        seed="seed",
        version=exercises.digest(name),
        reason="",
        limits=TIME_LIMITS,
        unsafe=False,
        modules="",
        manual={},
        comments={},
        earlier="",
    )


def work(job: Job) -> Outcome:
    """Return a made-up outcome: the part that the notebook's text names is wrong.

    Replaces `grading.work.work`. The page has 20 KB, so that tests can make the disk too full for
    it.
    """
    parts = set(points(job.exercise))
    if job.reason:
        return outcome(job.exercise, parts, "not-graded", reason=job.reason)
    made = outcome(job.exercise, parts & {job.content.decode()}, "other", page="page" * 5000)
    made.comments[f"{min(parts)}-solution"] = "No response."
    return made
