"""Reading a figure: what it shows, and what a reader takes from it.

There are two steps. `facts` runs in the learner's process: it calls the function and returns plain
data about the figure. `reading` judges these facts in another process and doesn't trust them.
The figure may be drawn in any way: with lines, steps or points, a legend or texts at the curves.
"""

from .axis_words import scale
from .figure_facts import facts
from .reader import looked_at, reading

__all__ = ["facts", "looked_at", "reading", "scale"]
