"""``N_`` marks an exercise's messages for translation; they are translated when they are shown."""

from roofkit.words import N_

__all__ = ["N_"]
