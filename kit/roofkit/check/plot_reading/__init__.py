"""What a figure shows, and what a reader takes from it.

Two steps. `facts` runs in the learner's process: it lets the function draw and gives plain data,
which can be sent. `reading` judges them, in another process, and trusts none of them.
Neither knows how the figure was drawn: lines, steps, points, a legend or texts beside the curves
are all read.
"""

from .axis_words import scale
from .figure_facts import facts
from .reader import looked_at, reading

__all__ = ["facts", "looked_at", "reading", "scale"]
