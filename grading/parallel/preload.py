"""Imported once by the fork server, so that every worker starts with everything it needs."""

import contextlib
import gc

import matplotlib.pyplot  # noqa: F401 - for the reference figures
from nbformat.v4 import new_notebook

from grading.judging.verdicts import published_cases
from grading.release import exercises
from grading.reports.feedback_page import page
from grading.sandbox.fork_server import share
from grading.work import version

empty = new_notebook()
page(empty, "", "", [], {})  # compiles the templates
for name in exercises.names():
    with contextlib.suppress(Exception):  # grading that exercise will report the error
        version(name)
        for part in exercises.load(name).parts:  # computes the reference values and figures
            published_cases(name, part.key)
share()
gc.collect()
gc.freeze()  # so that collections in the workers do not write to shared pages
