"""The instructor's side: values out of a submitted notebook, a verdict outside of it.

A learner's function is asked for values inside the process of its notebook (`probe`), on inputs
that it has not seen (`hidden`). They are compared here with what the reference solution gives
(`reference`), and the verdict is written into the graded notebook (`graded`). `preprocessors` hangs
all this into nbgrader; `course` and `report` do what `make grade` does.
"""
