"""Pictures that explain: scenes drawn to scale from the catalogue's numbers."""

from roofkit.pictures.ring_picture import ring
from roofkit.pictures.shards_picture import shards

__all__ = ["ring", "shards"]
