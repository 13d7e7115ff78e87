"""The instructor's side: from submitted notebooks to points, reports and feedback.

A learner's functions are called with hidden inputs inside the process of their notebook, in a
`sandbox`. The values that they return are judged outside of it, against the reference solution.

For `make grade`, `course` leads. `intake` finds what was handed in, `work` turns one submission
into one graded notebook (with `execution` and `judging`), `parallel` spreads that over processes,
`records` writes down the outcome, and `reports` shows it. `nbgrader_setup` makes plain nbgrader
commands do the same. `schema` is the vocabulary in which exercises are written; `release` loads
them.
"""
