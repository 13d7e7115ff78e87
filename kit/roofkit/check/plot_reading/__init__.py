"""Reading of a learner's figure: the values that its curves show.

There are two steps. `facts` runs in the learner's process: it calls the function and returns plain
data about the figure. `reading` interprets these untrusted facts, in grading in another process.
Any style is accepted: lines, steps or points, with a legend or with texts at the curves.
"""

from .axis_words import scale
from .figure_facts import facts
from .reader import looked_at, reading

__all__ = ["facts", "looked_at", "reading", "scale"]
