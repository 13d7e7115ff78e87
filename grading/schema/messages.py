"""``N_``, which marks an exercise's messages for translation.

They are translated when they are shown.
"""

from roofkit.words import N_

__all__ = ["N_"]
