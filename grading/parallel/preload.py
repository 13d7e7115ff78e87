"""Module for the fork server to import, so that workers start with warm caches."""

import contextlib
import gc

import matplotlib.pyplot  # noqa: F401 - for the reference figures
from nbformat.v4 import new_notebook

from grading.judging.verdicts import published_cases
from grading.release import exercises
from grading.reports.feedback_page import page
from grading.sandbox.fork_server import wait_for_shared
from grading.work import version

empty = new_notebook()
page(empty, "", "", [], {})  # compiles the templates
for name in exercises.names():
    with contextlib.suppress(Exception):  # grading the exercise will report the error
        version(name)
        for part in exercises.load(name).parts:
            published_cases(name, part.key)  # computes the reference values and figures
wait_for_shared()
gc.collect()
gc.freeze()  # garbage collection in workers must not write to memory pages shared by fork
