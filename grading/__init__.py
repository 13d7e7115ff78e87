"""The instructor's side: from notebooks to points, reports and feedback.

A learner's functions are called with hidden inputs inside the process of their notebook, in a
`sandbox`. The values that they return are judged outside it, against the reference solution.

`course` runs `make grade`: `intake` finds the submissions, `work` turns each into a graded notebook
(with `execution` and `judging`), `parallel` spreads that over processes, `records` stores the
results, and `reports` presents them. `nbgrader_setup` makes plain nbgrader commands do the same.
`schema` defines what an exercise consists of; `release` loads the exercises.
"""
