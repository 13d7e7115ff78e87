"""The instructor's side: values out of a submitted notebook, and a verdict outside of it.

A submission goes through the folders in this order. `intake` finds what was handed in and gives a
notebook its cells back. `execution` runs it in a `sandbox` and asks the learner's functions for
values, for cases that they have not seen, which come from `release`. `judging` compares them with
what the reference solution gives. `records` keeps what came of it, and `reports` tells.

`grade_notebook` does this for one notebook, `work` for one submission, and `course` for a class,
spread over processes by `parallel`. `nbgrader_setup` makes plain nbgrader do the same. Exercises
are written in the terms of `schema`.
"""

import sys

# If this package is there, jsonschema compiles a grammar of web addresses with it, for a second in
# each process. Nothing in a notebook's schema asks for one.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
