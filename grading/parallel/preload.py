"""Imported once by the fork server, so that every worker starts with all that it needs."""

import matplotlib.pyplot  # noqa: F401 - for the reference figures
from nbformat.v4 import new_notebook

from grading import work  # noqa: F401
from grading.reports.feedback_page import page

empty = new_notebook()
page(empty, "", "", [], {})  # reads and compiles the templates
