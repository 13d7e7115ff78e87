# May lose points: lets each copy of the process send noise of another kind as its answers.
import os

from IPython import get_ipython

NOISE = (
    '{"part": "bytes-moved"}',
    "[" * 100_000,
    "1" * 100_000,
    '[{"a": [[1e999, null]]}, 3, {}]',
    '[NaN, "", ""]',
    '["20.0", "", "../../x"]',
    '[20, "right", ""]',
    "[]",
)
ours = get_ipython()._showtraceback.__globals__
answer_all = ours["answer_all"]


def noisy(namespace, grader):
    ours["dumps"] = lambda reply: NOISE[os.getpid() % len(NOISE)]
    answer_all(namespace, grader)


ours["answer_all"] = noisy
