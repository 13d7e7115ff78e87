"""What every worker needs and may be made once: in the process that they are copies of."""

import matplotlib.pyplot  # noqa: F401 - for the reference figures
from nbformat.v4 import new_notebook

from grading import work  # noqa: F401
from grading.reports.feedback_page import page

page(new_notebook(), "", "", [], {})  # reads and compiles the templates
